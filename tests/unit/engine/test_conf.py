"""What is handed to Spark, by settings alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from goldsmith.credentials import Secrets
from goldsmith.engine import conf, connect, jars
from goldsmith.planning.places import Places
from goldsmith.settings.settings import Settings

Make = Callable[..., Places]
S3 = """
[storage]
endpoint = "http://127.0.0.1:9000"
access_key = "env:KEY"
secret_key = "env:SECRET"
[lake]
warehouse = "s3://shop/lake"
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Places of a project whose goldsmith.toml says what the test says."""
    monkeypatch.setattr(jars, "paths", lambda: (Path("/jars/a.jar"), Path("/jars/b.jar")))

    def make(toml: str = "") -> Places:
        (tmp_path / "goldsmith.toml").write_text(toml)
        environ = {"KEY": "key", "SECRET": "very-secret", "TOKEN": "t0ken"}
        settings = Settings.load(environ, project=tmp_path, environment=None, cwd=tmp_path)
        return Places(settings, Secrets(environ))

    return make


@pytest.mark.parametrize("master", ["spark://one:7077", "yarn", "k8s://https://cluster:6443"])
def test_a_cluster_gets_its_jars_from_the_driver_and_nothing_of_a_laptop(
    places: Make, master: str
) -> None:
    said = conf.of_process(places(f'[spark]\nmaster = "{master}"'))

    assert said["spark.jars"] == "/jars/a.jar,/jars/b.jar"
    assert said["spark.driver.extraClassPath"] == "/jars/a.jar:/jars/b.jar"
    assert not {"spark.driver.host", "spark.sql.shuffle.partitions", "spark.master"} & set(said)


def test_a_laptop_needs_no_jars_handed_out_and_listens_to_itself_only(places: Make) -> None:
    said = conf.of_process(places())

    assert "spark.jars" not in said
    assert said["spark.driver.host"] == "127.0.0.1"


def test_any_setting_of_sparks_own_is_passed_on_and_wins(places: Make) -> None:
    said = conf.of_process(
        places(
            """
            [spark]
            master = "k8s://https://cluster:6443"
            [spark.conf]
            "spark.kubernetes.container.image" = "company/spark:4.1"
            "spark.kubernetes.namespace" = "data"
            "spark.executor.instances" = "7"
            "spark.yarn.queue" = "etl"
            "spark.ui.enabled" = "true"
            "spark.sql.shuffle.partitions" = "400"
            "spark.hadoop.fs.s3a.connection.maximum" = "200"
            """
        )
    )

    assert said["spark.kubernetes.container.image"] == "company/spark:4.1"
    assert said["spark.kubernetes.namespace"] == "data"
    assert said["spark.executor.instances"] == "7"
    assert said["spark.yarn.queue"] == "etl"
    assert said["spark.ui.enabled"] == "true"
    assert said["spark.sql.shuffle.partitions"] == "400"
    assert said["spark.hadoop.fs.s3a.connection.maximum"] == "200"


def test_jars_and_java_options_of_others_stand_beside_ours(places: Make) -> None:
    said = conf.of_process(
        places(
            """
            [spark]
            master = "yarn"
            [spark.conf]
            "spark.jars" = "s3://company/own.jar"
            "spark.driver.extraClassPath" = "/opt/own.jar"
            "spark.driver.extraJavaOptions" = "-Xss4m"
            """
        )
    )

    assert said["spark.jars"] == "/jars/a.jar,/jars/b.jar,s3://company/own.jar"
    assert said["spark.driver.extraClassPath"] == "/jars/a.jar:/jars/b.jar:/opt/own.jar"
    assert said["spark.driver.extraJavaOptions"].startswith("-Xss4m -Dlog4j2.configurationFile=")


def test_a_process_of_spark_submit_is_told_nothing_that_was_decided_before_it(
    places: Make,
) -> None:
    said = conf.of_process(places('[spark]\nmaster = "spark-submit"'))

    started = {"spark.jars", "spark.driver.extraClassPath", "spark.driver.extraJavaOptions"}
    assert not (started | {"spark.driver.memory", "spark.ui.enabled"}) & set(said)
    assert said["spark.sql.catalog.lake"] == "org.apache.iceberg.spark.SparkCatalog"


def test_the_lake_keeps_s3_addresses_with_icebergs_own_way_and_s3a_with_hadoops(
    places: Make,
) -> None:
    own = conf.of_process(places(S3))
    hadoop = conf.of_process(places(S3 + 'io = "hadoop"'))

    assert own["spark.sql.catalog.lake.warehouse"] == "s3://shop/lake"
    assert own["spark.sql.catalog.lake.io-impl"] == "org.apache.iceberg.aws.s3.S3FileIO"
    assert hadoop["spark.sql.catalog.lake.warehouse"] == "s3a://shop/lake"
    assert "spark.sql.catalog.lake.io-impl" not in hadoop


def test_a_session_on_a_server_gets_hadoops_settings_by_hadoops_names(places: Make) -> None:
    said = conf.of_session(places(S3 + '[spark.conf]\n"spark.sql.shuffle.partitions" = "9"'))

    assert said["fs.s3a.endpoint"] == "http://127.0.0.1:9000"
    assert said["fs.s3a.secret.key"] == "very-secret"
    assert said["spark.sql.shuffle.partitions"] == "9"
    assert not [name for name in said if name.startswith(("spark.hadoop", "spark.driver"))]


def test_many_files_are_looked_at_by_a_job_on_s3_and_by_the_driver_in_a_folder(
    places: Make,
) -> None:
    discovery = "spark.sql.sources.parallelPartitionDiscovery"

    assert conf.of_process(places())[f"{discovery}.threshold"] == "100000"
    assert f"{discovery}.threshold" not in conf.of_process(places(S3))
    assert conf.of_session(places(S3))[f"{discovery}.parallelism"] == "64"


def test_secrets_in_the_lakes_options_are_looked_up(places: Make) -> None:
    toml = '[lake]\ncatalog = "rest"\nuri = "http://lake"\n[lake.options]\ntoken = "env:TOKEN"'
    found = places(toml)

    assert conf.of_process(found)["spark.sql.catalog.lake.token"] == "t0ken"
    assert found.lake_options() == {"token": "t0ken"}


def test_a_list_of_tables_in_postgresql_has_its_password_apart_from_its_address(
    places: Make,
) -> None:
    toml = (
        '[lake]\nuri = "postgresql://ann@db:5433/lake"\nschema = "lists"\npassword = "env:SECRET"'
    )
    said = conf.of_process(places(toml))

    prefix = "spark.sql.catalog.lake"
    assert said[f"{prefix}.uri"] == "jdbc:postgresql://db:5433/lake?currentSchema=lists"
    assert said[f"{prefix}.jdbc.user"] == "ann"
    assert said[f"{prefix}.jdbc.password"] == "very-secret"


@pytest.mark.parametrize(
    ("remote", "expected"),
    [
        ("sc://spark:15002", "sc://spark:15002/;token=t"),
        ("sc://spark:15002/", "sc://spark:15002/;token=t"),
        ("sc://spark:15002/;use_ssl=true", "sc://spark:15002/;use_ssl=true;token=t"),
        ("sc://spark:15002/;use_ssl=true;", "sc://spark:15002/;use_ssl=true;token=t"),
    ],
)
def test_the_token_is_put_into_the_address(remote: str, expected: str) -> None:
    assert connect.address(remote, "t") == expected
    assert connect.address(remote, None) == remote


def test_a_server_that_is_not_there_is_said_at_once(places: Make) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(connect.SparkUnreachable, match=f"127.0.0.1:{port}"):
        connect.start(places(f'[spark]\nremote = "sc://127.0.0.1:{port}"'))
