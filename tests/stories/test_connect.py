"""What is its own on Spark Connect: stages that take too long, and settings a server refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from servers.spark import ConnectServer
from stories.environment_catalog import Environment, prompt

#: Its last stage would take ten minutes; Spark sleeps in Java, where an interrupt reaches it.
_CATALOG = """
pipelines: [{pipeline_id: slow}]
sources:
  - {source_id: raw, s3_path: "s3://shop/raw/", file_format: jsonl, declared_schema: "id BIGINT"}
targets:
  - {target_id: bronze_numbers, location: "s3://shop/bronze/", type: s3}
stages:
  - pipeline_id: slow
    stage_order: 1
    source_id: raw
    target_id: bronze_numbers
    timeout_sec: 20
    transform_sql: SELECT id, reflect('java.lang.Thread', 'sleep', 600000L) AS slept FROM raw
"""


@pytest.fixture
def here(tmp_path: Path, connect_server: ConnectServer) -> Environment:
    """A project on the machine of the server."""
    toml = f'[spark]\nremote = "{connect_server.remote}"\n'
    return Environment(
        name="here", folder=tmp_path, toml=toml, put=lambda name, body: None, gold=lambda table: []
    )


def _prepare(here: Environment, more: str = "") -> Path:
    """One raw file and the settings; where the catalog's file is."""
    (here.folder / "goldsmith.toml").write_text(here.toml + more)
    (here.folder / "catalog.yaml").write_text(_CATALOG)
    raw = here.folder / ".goldsmith" / "s3" / "shop" / "raw"
    raw.mkdir(parents=True)
    (raw / "1.jsonl").write_text('{"id": 1}\n')
    return here.folder / "catalog.yaml"


@pytest.mark.soak
def test_a_stage_that_takes_too_long_is_ended_on_the_server_too(here: Environment) -> None:
    catalog = _prepare(here)
    with prompt(here) as goldsmith:
        goldsmith.say("catalog", "migrate", "--yes")
        goldsmith.say("apply", str(catalog), "--yes")
        runs = goldsmith.ask("run", code=1)
        shown = goldsmith.ask("datasets", "show", "bronze_numbers")

    assert [run["error_code"] for run in runs] == ["StageTimeout"]
    assert shown["empty"] or shown["rows"] == 0


@pytest.mark.soak
def test_a_setting_that_a_session_may_not_have_is_refused_by_its_name(here: Environment) -> None:
    catalog = _prepare(here, '[spark.conf]\n"spark.sql.extensions" = "com.example.Other"\n')
    with prompt(here) as goldsmith:
        goldsmith.say("catalog", "migrate", "--yes")
        goldsmith.say("apply", str(catalog), "--yes")
        runs = goldsmith.ask("run", code=1)

    assert [run["error_code"] for run in runs] == ["SparkSettingRefused"]
    assert "spark.sql.extensions" in runs[0]["error_message"]


@pytest.mark.soak
def test_lines_of_more_than_one_value_are_quarantined_on_the_server_too(here: Environment) -> None:
    catalog = _prepare(here)
    plain, _slow = _CATALOG.split("    timeout_sec")
    catalog.write_text(plain)
    raw = here.folder / ".goldsmith" / "s3" / "shop" / "raw" / "1.jsonl"
    raw.write_text('{"id": 1}\n' * 2000 + '{"id": 2}{"id": 3}\n[{"id": 4}, {"id": 5}]\n')
    with prompt(here) as goldsmith:
        goldsmith.say("catalog", "migrate", "--yes")
        goldsmith.say("apply", str(catalog), "--yes")
        [run] = goldsmith.ask("run")
        shown = goldsmith.ask("runs", "show", run["run_id"])
        kept = goldsmith.ask("quarantine", "show", "bronze_numbers")

    [stage] = shown["stage_runs"]
    assert (stage["rows_written"], stage["rows_quarantined"]) == (2002, 1)
    assert '{"id": 2}{"id": 3}' in json.dumps(kept).replace('\\"', '"')
