"""Settings: who is heard first, what follows from what was said, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from goldsmith.settings.errors import BadSettings, NoProject, UnknownEnvironment, UnsafeAddress
from goldsmith.settings.sections import SECTIONS, SettingKind
from goldsmith.settings.settings import Settings
from goldsmith.settings.values import without_password

S3_AND_POSTGRES = """
[environments.test]
catalog = { url = "postgresql://gold@127.0.0.1:5433/gold", password = "env:PG" }
storage = { endpoint = "http://127.0.0.1:9000", access_key = "env:KEY", secret_key = "env:SECRET" }
lake.warehouse = "s3://company/lake/"
warehouses.redshift = { kind = "postgres", url = "postgresql://gold@127.0.0.1:5433/target" }
"""
REDSHIFT = """
[environments.test.warehouses.redshift]
host = "127.0.0.1"
port = 5555
database = "dev"
user = "gold"
ssl = false
staging = "s3://company/staging/"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def load(
    project: Path,
    toml: str = "",
    environ: Mapping[str, str] | None = None,
    environment: str | None = None,
) -> Settings:
    (project / "goldsmith.toml").write_text(toml, encoding="utf-8")
    return Settings.load(environ or {}, project=None, environment=environment, cwd=project)


def problems(project: Path, toml: str = "", environ: Mapping[str, str] | None = None) -> list[str]:
    with pytest.raises(BadSettings) as caught:
        load(project, toml, environ)
    return list(caught.value.problems)


def origin(settings: Settings, name: str) -> str:
    return next(setting.origin for setting in settings.values if setting.name == name)


def test_nothing_said_means_everything_lies_under_the_project(project: Path) -> None:
    settings = load(project)

    home = project / ".goldsmith"
    assert settings.environment == "embedded"
    assert settings.name == "shop"
    assert settings.catalog.url == f"sqlite:///{home}/catalog.db"
    assert settings.catalog.file == home / "catalog.db"
    assert settings.storage.kind == "folder"
    assert settings.warehouses["redshift"].kind == "duckdb"
    assert settings.warehouses["redshift"].path == home / "warehouse.duckdb"
    assert (settings.lake.catalog, settings.lake.io) == ("jdbc", "hadoop")
    assert settings.lake.uri == f"sqlite:///{home}/lake.db"
    assert settings.schemas.folder == project / "schemas"
    assert settings.spark.master == "local[*]"
    assert {setting.origin for setting in settings.values} == {"default", "staging.folder"}


def test_a_variable_comes_before_the_environment_and_that_before_the_project(project: Path) -> None:
    toml = """
[spark]
master = "local[1]"
driver_memory = "1g"

[environments.test.spark]
master = "local[2]"
"""
    spark = "spark.master"
    plain = load(project, toml)
    test = load(project, toml, environment="test")
    loaded = load(project, toml, {"GOLDSMITH_SPARK__MASTER": "local[3]", "GOLDSMITH_ENV": "test"})

    assert (plain.spark.master, origin(plain, spark)) == ("local[1]", "goldsmith.toml:3")
    assert (test.spark.master, origin(test, spark)) == ("local[2]", "goldsmith.toml:7")
    assert (loaded.spark.master, origin(loaded, spark)) == ("local[3]", "$GOLDSMITH_SPARK__MASTER")
    assert loaded.spark.driver_memory == "1g"
    assert loaded.environment == "test"


def test_an_entry_of_a_free_table_is_overridden_alone(project: Path) -> None:
    toml = """
[spark.conf]
spark.sql.shuffle.partitions = 4
spark.ui.enabled = false

[environments.test.spark.conf]
"spark.sql.shuffle.partitions" = "8"
"""
    environ = {"GOLDSMITH_SPARK__CONF": '{"spark.app.name": "shop"}'}
    settings = load(project, toml, environ, "test")

    assert settings.spark.conf == {
        "spark.app.name": "shop",
        "spark.sql.shuffle.partitions": "8",
        "spark.ui.enabled": "false",
    }
    assert origin(settings, 'spark.conf."spark.ui.enabled"') == "goldsmith.toml:4"
    assert origin(settings, 'spark.conf."spark.app.name"') == "$GOLDSMITH_SPARK__CONF"


def test_a_lambda_is_bound_by_its_arn(project: Path) -> None:
    toml = """
[lambdas]
endpoint = "http://127.0.0.1:9001"
"arn:aws:lambda:...:schema_migration_handler" = "python:shop.heal:migrate"
"""
    lambdas = load(project, toml).lambdas

    assert lambdas.endpoint == "http://127.0.0.1:9001"
    assert lambdas.handlers == {
        "arn:aws:lambda:...:schema_migration_handler": "python:shop.heal:migrate"
    }


def test_s3_over_http_with_postgresql_follows_from_few_words(project: Path) -> None:
    settings = load(project, S3_AND_POSTGRES, environment="test")

    assert settings.storage.kind == "s3"
    assert settings.storage.path_style is True
    assert settings.storage.region == "us-east-1"
    assert settings.lake.io == "s3"
    assert settings.lake.uri == settings.catalog.url
    assert (settings.lake.schema, settings.lake.password) == ("iceberg", "env:PG")
    redshift = settings.warehouses["redshift"]
    assert (redshift.kind, redshift.host, redshift.port) == ("postgres", "127.0.0.1", 5433)
    assert (redshift.database, redshift.user) == ("target", "gold")
    assert origin(settings, "warehouses.redshift.host") == "warehouses.redshift.url"
    assert settings.address("s3://company/raw/a.jsonl") == "s3://company/raw/a.jsonl"


def test_a_warehouse_with_a_host_is_of_its_own_kind(project: Path) -> None:
    redshift = load(project, REDSHIFT, environment="test").warehouses["redshift"]

    assert (redshift.kind, redshift.port, redshift.ssl) == ("redshift", 5555, False)
    assert redshift.staging == "s3://company/staging/"


def test_a_url_said_nearer_than_a_part_wins(project: Path) -> None:
    toml = '[warehouses.postgres]\nhost = "far"\nport = 1\ndatabase = "d"\nuser = "u"'
    environ = {"GOLDSMITH_WAREHOUSES__POSTGRES__URL": "postgresql://near/d2"}

    context = load(project, toml, environ).warehouses["postgres"]

    assert (context.host, context.port, context.database, context.user) == (
        "near",
        5432,
        "d2",
        None,
    )


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        pytest.param('lake.catalog = "glue"', ("glue", None), id="the Glue Data Catalog"),
        pytest.param(
            'lake = { catalog = "rest", uri = "http://127.0.0.1:8181" }',
            ("rest", "http://127.0.0.1:8181"),
            id="a REST catalog",
        ),
    ],
)
def test_the_lake_can_be_listed_elsewhere(
    project: Path, toml: str, says: tuple[str, str | None]
) -> None:
    lake = load(project, toml).lake

    assert (lake.catalog, lake.uri) == says


def test_relative_paths_are_the_projects(project: Path) -> None:
    toml = """
[catalog]
url = "sqlite:///data/c.db"
password = "file:secret.txt"
[storage]
folder = "../s3"
[storage.bind]
"s3://elsewhere/" = "data/elsewhere"
"""
    settings = load(project, toml)

    assert settings.catalog.url == f"sqlite:///{project}/data/c.db"
    assert settings.catalog.password == f"file:{project}/secret.txt"
    assert settings.storage.folder == project.parent / "s3"
    assert settings.address("s3://elsewhere/a") == f"{project}/data/elsewhere/a"


def test_a_project_is_found_from_a_folder_inside_it(project: Path) -> None:
    (project / "goldsmith.toml").touch()
    inside = project / "catalog" / "deep"
    inside.mkdir(parents=True)

    def found(environ: Mapping[str, str], named: Path | None, cwd: Path) -> Path:
        return Settings.load(environ, project=named, environment=None, cwd=cwd).project

    assert found({}, None, inside) == project
    assert found({}, Path("shop"), project.parent) == project
    assert found({"GOLDSMITH_PROJECT": str(project)}, None, Path("/")) == project


@pytest.mark.parametrize("named", [None, Path("nowhere")])
def test_no_project_says_where_it_was_looked_for(tmp_path: Path, named: Path | None) -> None:
    with pytest.raises(NoProject, match=re.escape(str(tmp_path))) as caught:
        Settings.load({}, project=named, environment=None, cwd=tmp_path)
    assert "goldsmith init" in caught.value.hint


def test_an_unknown_environment_names_the_known_ones(project: Path) -> None:
    with pytest.raises(UnknownEnvironment, match="'prd'") as caught:
        load(project, "[environments.prod]", {"GOLDSMITH_ENV": "prd"})
    assert "Did you mean 'prod'?" in caught.value.hint
    assert caught.value.origin == "$GOLDSMITH_ENV"


def test_everything_wrong_is_said_at_once_with_its_line(project: Path) -> None:
    toml = """
colour = "red"
[catalog]
ulr = "sqlite:///x.db"
[storage]
kind = "foldr"
path_style = "yes"
[warehouses.redshfit]
kind = "duckdb"
[environments.prod.spark]
mastr = "yarn"
[environments.prod.warehouses.redshift]
port = "5439"
"""
    found = problems(project, toml, {"GOLDSMITH_LAKE__IOO": "s3", "GOLDSMITH_CACHE": "/x"})

    assert found == [
        "$GOLDSMITH_LAKE__IOO is not a setting; did you mean $GOLDSMITH_LAKE__IO?",
        "goldsmith.toml:2: 'colour' is not a setting.",
        "goldsmith.toml:4: 'catalog.ulr' is not a setting; did you mean 'catalog.url'?",
        "goldsmith.toml:6: 'storage.kind' must be one of folder, s3, not 'foldr'; "
        "did you mean 'folder'?",
        "goldsmith.toml:7: 'storage.path_style' must be true or false, not 'yes'.",
        "goldsmith.toml:8: 'warehouses.redshfit' is not a setting; "
        "did you mean 'warehouses.redshift'?",
        "goldsmith.toml:11: 'spark.mastr' is not a setting; did you mean 'spark.master'?",
        "goldsmith.toml:13: 'warehouses.redshift.port' must be a whole number, not '5439'.",
    ]


def test_a_variable_with_one_underscore_too_few_is_not_ignored(project: Path) -> None:
    assert problems(project, environ={"GOLDSMITH_CATALOG_URL": "sqlite:///x.db"}) == [
        "$GOLDSMITH_CATALOG_URL is not a setting; did you mean $GOLDSMITH_CATALOG__URL?"
    ]


def test_a_missing_value_says_where_it_was_looked_for(project: Path) -> None:
    toml = '[warehouses.redshift]\nkind = "redshift"\ndatabase = "d"\nuser = "u"\n'
    toml += 'staging = "s3://company/staging/"'

    assert problems(project, toml) == [
        "The setting 'warehouses.redshift.host' has no value. Looked in: "
        "$GOLDSMITH_WAREHOUSES__REDSHIFT__HOST; 'warehouses.redshift.host' in "
        "[environments.embedded] and at the top of goldsmith.toml (a redshift warehouse needs it)."
    ]


@pytest.mark.parametrize(
    ("toml", "missing"),
    [
        ('storage.kind = "s3"', "lake.warehouse"),
        ('lake.catalog = "rest"', "lake.uri"),
        (
            'lake.warehouse = "s3://c/"\nstorage = { kind = "s3", access_key = "env:K" }',
            "storage.secret_key",
        ),
        (REDSHIFT.replace("environments.test.", "").replace("staging", "#"), ".staging"),
    ],
)
def test_what_was_said_can_make_another_value_necessary(
    project: Path, toml: str, missing: str
) -> None:
    (only,) = problems(project, toml)

    assert missing in only


@pytest.mark.parametrize(
    ("toml", "environ"),
    [
        pytest.param('catalog.password = "hunter2"', {}, id="a password in the file"),
        pytest.param("", {"GOLDSMITH_CATALOG__PASSWORD": "hunter2"}, id="and in a variable"),
        pytest.param('catalog.url = "postgresql://u:hunter2@h/d"', {}, id="in an address"),
        pytest.param('spark.remote = "sc://h/;token=hunter2"', {}, id="a token in an address"),
        pytest.param("storage.secret_key = ['hunter2']", {}, id="of the wrong type too"),
    ],
)
def test_a_secret_in_plain_text_is_refused_and_not_repeated(
    project: Path, toml: str, environ: Mapping[str, str]
) -> None:
    (only, *_) = problems(project, toml, environ)

    assert "reference: env:NAME" in only
    assert "hunter2" not in only


def test_a_password_in_a_variables_address_is_used_and_not_shown(project: Path) -> None:
    url = "postgresql://u:hunter2@h/d"
    settings = load(project, environ={"GOLDSMITH_CATALOG__URL": url})
    shown = {setting.name: setting.shown for setting in settings.values}

    assert settings.catalog.url == url
    assert shown["catalog.url"] == "postgresql://u:•••@h/d"
    assert shown["lake.uri"] == "postgresql://u:•••@h/d"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:hunter2@h/d",
        "postgresql://h/d?user=u&password=hunter2",
        "postgresql://h/d?sslmode=require&sslpassword=hunter2&connect_timeout=3",
        "postgresql://u:hunter2/with/slash@h/d",
        "postgresql://u:at@hunter2@h:5432/d",
        "postgresql://u:hunter2?#@h/d",
        "postgresql:/u:hunter2@h/d",
        "postgresql:u:hunter2@h/d",
        "u:hunter2@h/d",
        "u:hunter2@h:5432/d?sslmode=require",
        "postgresql://u:hunter2@h:no-port/d",
        "sc://h:15002/;use_ssl=true;token=hunter2",
        "host=127.0.0.1 port=1 password=hunter2",
        "host=127.0.0.1 password = hunter2 user=u",
        "postgresql://u@h/d?options=-cpassword%3Dhunter2",
    ],
)
def test_an_address_is_shown_without_its_password_however_it_is_written(url: str) -> None:
    assert "hunter2" not in without_password(url)
    assert "hunter2" not in without_password(f"connection to {url} failed")


def test_an_address_without_a_password_is_shown_as_it_is() -> None:
    for url in (
        "postgresql://u@h:5432/d?sslmode=require",
        "sqlite:////data/ann@example.com/12:30/catalog.db",
        "https://example.com:8443/a/b",
        "s3://company/ann@example.com/12:30/",
    ):
        assert without_password(url) == url


@pytest.mark.parametrize(
    "toml",
    ["x = ", "environments = 3", "[environments]\nprod = 1", "catalog = 1", "a = " + "[" * 9999],
)
def test_a_file_of_the_wrong_shape_is_one_problem(project: Path, toml: str) -> None:
    (only,) = problems(project, toml)

    assert "goldsmith.toml" in only


def test_keys_in_long_texts_are_not_taken_for_keys(project: Path) -> None:
    toml = '[spark.conf]\nnote = """\n[catalog]\nurl = 1\n"""\n\n[catalog]\nurl = 2\n'

    assert problems(project, toml) == [
        "goldsmith.toml:8: 'catalog.url' must be text in quotes, not 2."
    ]


def test_the_file_of_a_new_project_loads_and_so_does_its_example(project: Path) -> None:
    name = 'Ann\'s "shop" \\ ☕'
    toml = Settings.default_toml(name)
    example = re.sub(r"^# ?(?=\[|\w+ = )", "", toml, flags=re.MULTILINE)

    assert load(project, toml).name == name
    prod = load(project, example, environment="prod")
    assert prod.warehouses["redshift"].kind == "redshift"
    assert prod.warehouses["redshift"].staging == "s3://company/staging/"
    assert (prod.lake.catalog, prod.lake.io, prod.storage.kind) == ("glue", "s3", "s3")
    assert load(project, example).warehouses["redshift"].kind == "duckdb"


BOUND = """
[storage.bind]
"s3://company/" = "s3://company-dev/sandbox/"
"s3://company/raw/public" = "s3://public"
"s3a://local/" = "/srv/local/"
"""


@pytest.mark.parametrize(
    ("address", "real"),
    [
        ("s3://company/raw/a.jsonl", "s3://company-dev/sandbox/raw/a.jsonl"),
        ("s3://company/raw/public/a b%20.jsonl", "s3://public/a b%20.jsonl"),
        ("s3://company/raw/publicity/", "s3://company-dev/sandbox/raw/publicity/"),
        ("s3://company", "s3://company-dev/sandbox"),
        ("s3://local/x/", "/srv/local/x/"),
    ],
)
def test_the_longest_bound_prefix_wins_and_there_is_a_way_back(
    project: Path, address: str, real: str
) -> None:
    settings = load(project, BOUND)

    assert settings.address(address) == real
    assert settings.catalog_address(real) == address


def test_an_address_nobody_bound_is_a_folder_of_the_project(project: Path) -> None:
    settings = load(project, BOUND)
    real = f"{project}/.goldsmith/s3/other/x.jsonl"

    assert settings.address("s3://other/x.jsonl") == real
    assert settings.address("s3a://other/x.jsonl") == real
    assert settings.catalog_address(f"file://{real}") == "s3://other/x.jsonl"
    assert settings.address("/already/real") == "/already/real"
    assert settings.catalog_address("/nowhere/bound") == "/nowhere/bound"


def test_a_place_that_no_address_leads_to_keeps_its_name(project: Path) -> None:
    toml = 'storage.kind = "s3"\nlake.warehouse = "s3://company/lake/"\n' + BOUND
    settings = load(project, toml)

    # s3://company/x leads into the sandbox: it is not the name of the bucket's own x.
    assert settings.catalog_address("s3a://company/x") == "s3a://company/x"
    assert settings.catalog_address("s3a://other/x") == "s3://other/x"


@pytest.mark.parametrize(
    "address",
    ["s3://", "s3:///etc/passwd", "s3://..", "s3://company/../../x", "s3://a/./b", "s3://a/b\0c"],
)
@pytest.mark.parametrize("toml", ["", BOUND])
def test_an_address_cannot_lead_out_of_its_folder(project: Path, toml: str, address: str) -> None:
    settings = load(project, toml)

    with pytest.raises(UnsafeAddress):
        settings.address(address)


def test_bindings_that_make_no_sense_are_refused(project: Path) -> None:
    toml = """
[storage.bind]
"company/" = "s3://x/"
"s3://a/" = "gs://x/"
"s3://b/" = "s3://x/../y/"
"s3://c/" = "s3://z"
"s3://d/" = "s3://z/"
"""
    assert len(problems(project, toml)) == 4


def test_what_is_true_or_false_or_a_number_can_be_said_as_such() -> None:
    wanted = {bool: SettingKind.FLAG, int: SettingKind.WHOLE}
    for section in SECTIONS.values():
        for name, hint in get_type_hints(section).items():
            kinds = {kind for kind in (get_args(hint) or (hint,)) if kind in wanted}
            declared = (
                {attribute.name: attribute for attribute in fields(section)}[name]
                .metadata["spec"]
                .kind
            )
            assert declared is wanted[kinds.pop()] if kinds else declared not in wanted.values(), (
                name
            )


@pytest.mark.parametrize(("value", "is_native"), [("false", False), ("no", False), ("true", True)])
def test_arrow_can_be_switched_off(project: Path, value: str, is_native: bool) -> None:
    assert load(project, environ={"GOLDSMITH_SPARK__NATIVE": value}).spark.native is is_native
    assert load(project, f"[spark]\nnative = {str(is_native).lower()}").spark.native is is_native
