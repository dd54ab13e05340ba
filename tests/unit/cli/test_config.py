"""`goldsmith config`: every value with its origin, no secret, and connections tried."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from goldsmith.cli import config_checks
from goldsmith.cli.main import goldsmith
from goldsmith.runtime import NoCatalog, Runtime


@pytest.fixture
def project(tmp_path: Path) -> Path:
    CliRunner().invoke(goldsmith, ["init", str(tmp_path)], catch_exceptions=False)
    return tmp_path


@pytest.fixture(scope="module")
def closed_port() -> Iterator[int]:
    # Bound and not listening: nobody else gets it, and whoever connects is refused.
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def config(project: Path, *arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(
        goldsmith,
        ["--project", str(project), "config", *arguments],
        env=environ,
        catch_exceptions=False,
    )


def checks(project: Path, **environ: str) -> dict[str, dict[str, Any]]:
    answer = config(project, "check", "--json", **environ)
    return {probe["name"]: probe for probe in json.loads(answer.output)}


def test_show_says_where_each_value_came_from(project: Path) -> None:
    answer = config(project, "show", GOLDSMITH_SPARK__MASTER="local[2]")

    lines = {line.split()[0]: line.split()[1:] for line in answer.output.splitlines()[2:]}
    assert lines["name"][1:] == ["goldsmith.toml:4"]
    assert lines["spark.master"] == ["local[2]", "$GOLDSMITH_SPARK__MASTER"]
    assert lines["storage.kind"] == ["folder", "default"]
    assert "spark.remote" not in lines


def test_show_gives_programs_everything(project: Path) -> None:
    values = json.loads(config(project, "show", "--json").output)

    assert all(
        set(setting) == {"name", "value", "origin", "doc"} and setting["doc"] for setting in values
    )
    assert [setting["value"] for setting in values if setting["name"] == "spark.remote"] == [None]


def test_show_hides_secrets_and_shows_references(project: Path) -> None:
    (project / "goldsmith.toml").write_text(
        """
[storage]
access_key = "env:KEY"
secret_key = "env:SECRET"
[lake]
warehouse = "s3://company/lake/"
[spark.conf]
"spark.hadoop.fs.s3a.secret.key" = "hunter2"
spark.ui.enabled = false
""",
        encoding="utf-8",
    )
    url = "postgresql://gold:hunter2@db/gold"
    for form in ((), ("--json",)):
        answer = config(project, "show", *form, GOLDSMITH_CATALOG__URL=url, SECRET="hunter2")

        assert "hunter2" not in answer.output
        assert "env:SECRET" in answer.output
        assert "postgresql://gold:•••@db/gold" in answer.output
        assert "false" in answer.output


def test_check_passes_on_a_new_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Java and jars belong to the machine, not to the project.
    monkeypatch.setattr(config_checks, "_java", lambda runtime: "Java 17")
    monkeypatch.setattr(config_checks, "_jars", lambda: "47 jars")
    answer = config(project, "check")

    assert answer.exit_code == 0, answer.output
    assert answer.output.splitlines()[-1] == "All 9 are as they should be."
    assert f"sqlite:///{project}/.goldsmith/catalog.db, revision" in answer.output


def test_check_says_what_is_wrong_with_each_connection(project: Path, closed_port: int) -> None:
    address = f"127.0.0.1:{closed_port}"
    found = checks(
        project,
        GOLDSMITH_CATALOG__URL=f"postgresql://gold@{address}/gold",
        GOLDSMITH_CATALOG__PASSWORD="env:PG",
        PG="hunter2",
        GOLDSMITH_WAREHOUSES__REDSHIFT__URL=f"redshift://gold@{address}/dev",
        GOLDSMITH_WAREHOUSES__REDSHIFT__STAGING="s3://company/staging/",
        GOLDSMITH_STORAGE__ENDPOINT=f"http://{address}",
        GOLDSMITH_STORAGE__ACCESS_KEY="env:PG",
        GOLDSMITH_STORAGE__SECRET_KEY="env:PG",
        GOLDSMITH_LAKE__WAREHOUSE="s3://company/lake/",
        GOLDSMITH_SPARK__REMOTE=f"sc://{address}",
    )

    names = ("catalog", "warehouse redshift", "lake", "spark")
    assert {name: found[name]["ok"] for name in names} == dict.fromkeys(names, False)
    assert all(probe["hint"] for probe in found.values() if not probe["ok"])
    assert "refused" in found["catalog"]["says"]
    assert "java" not in found
    assert "hunter2" not in json.dumps(found)


@pytest.mark.parametrize("master", ["locl[*]", "spark://", "local[x]", "sc://h"])
def test_check_knows_the_forms_of_a_master(project: Path, master: str) -> None:
    spark = checks(project, GOLDSMITH_SPARK__MASTER=master)["spark"]

    assert not spark["ok"]
    assert master in spark["says"]


def test_check_names_a_secret_that_is_not_there(project: Path) -> None:
    lake = "postgresql://gold@127.0.0.1/gold"
    found = checks(project, GOLDSMITH_LAKE__URI=lake, GOLDSMITH_LAKE__PASSWORD="env:NOT_SET")

    assert "NOT_SET is not set" in found["lake"]["says"]


def test_check_tries_to_write_where_data_goes(project: Path) -> None:
    (project / "taken").touch()
    storage = checks(project, GOLDSMITH_STAGING__FOLDER=str(project / "taken"))["storage"]

    assert not storage["ok"]
    assert "taken" in storage["says"]


def test_a_probe_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    never = threading.Event()
    probe = config_checks.Probe(
        name="x", look=lambda: str(never.wait()), hint="Do this.", seconds=0.05
    )
    result = config_checks._try(probe)
    never.set()

    assert (result.ok, result.hint) == (False, "Do this.")
    assert "no answer" in result.says


def test_a_project_without_its_catalog_says_so(project: Path) -> None:
    (project / ".goldsmith" / "catalog.db").unlink()
    runtime = Runtime.open(project)

    with pytest.raises(NoCatalog, match=r"catalog\.db"):
        _ = runtime.catalog
    runtime.close()


@pytest.mark.parametrize(
    ("arguments", "environ", "code"),
    [
        (["config", "show"], {}, 0),
        (["config", "check"], {"GOLDSMITH_SPARK__MASTER": "locl"}, 1),
        (["--env", "prod", "config", "show"], {}, 2),
        (["config", "show"], {"GOLDSMITH_CATALOG_URL": "x"}, 2),
    ],
)
def test_the_command_answers_with_its_exit_code(
    project: Path, arguments: list[str], environ: dict[str, str], code: int
) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", "from goldsmith.cli.main import main; main()", *arguments],
        cwd=project,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode == code, answer.stderr
    assert "Traceback" not in answer.stderr


def test_opening_a_project_loads_no_sqlalchemy(project: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from goldsmith.runtime import Runtime; "
        "runtime = Runtime.open(Path(sys.argv[1])); assert runtime.catalog_url; "
        "print([m for m in ('sqlalchemy', 'pydantic', 'boto3', 'logging') if m in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script, str(project)], capture_output=True, text=True, check=True
    )

    assert answer.stdout.strip() == "[]"
