"""What is handed to Spark, by settings alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from goldsmith.credentials import Secrets
from goldsmith.engine.session import connect, spark_settings
from goldsmith.settings.settings import Settings
from goldsmith.setup import jars
from goldsmith.storage.storage import Storage

Make = Callable[..., Storage]
S3 = """
[storage]
endpoint = "http://127.0.0.1:9000"
access_key = "env:KEY"
secret_key = "env:SECRET"
[lake]
warehouse = "s3://shop/lake"
"""


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Places of a project whose goldsmith.toml says what the test says."""
    monkeypatch.setattr(jars, "paths", lambda: (Path("/jars/a.jar"), Path("/jars/b.jar")))

    def make(toml: str = "") -> Storage:
        (tmp_path / "goldsmith.toml").write_text(toml)
        environ = {"KEY": "key", "SECRET": "very-secret", "TOKEN": "t0ken"}
        settings = Settings.load(environ, project=tmp_path, environment=None, cwd=tmp_path)
        return Storage(settings, Secrets(environ))

    return make


@pytest.mark.parametrize("master", ["spark://one:7077", "yarn", "k8s://https://cluster:6443"])
def test_a_cluster_gets_its_jars_from_the_driver_and_nothing_of_a_laptop(
    storage: Make, master: str
) -> None:
    conf = spark_settings.of_process(storage(f'[spark]\nmaster = "{master}"'))

    assert conf["spark.jars"] == "/jars/a.jar,/jars/b.jar"
    assert conf["spark.driver.extraClassPath"] == "/jars/a.jar:/jars/b.jar"
    assert not {"spark.driver.host", "spark.sql.shuffle.partitions", "spark.master"} & set(conf)


def test_a_laptop_needs_no_jars_handed_out_and_listens_to_itself_only(storage: Make) -> None:
    conf = spark_settings.of_process(storage())

    assert "spark.jars" not in conf
    assert conf["spark.driver.host"] == "127.0.0.1"


def test_any_setting_of_sparks_own_is_passed_on_and_wins(storage: Make) -> None:
    conf = spark_settings.of_process(
        storage(
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

    assert conf["spark.kubernetes.container.image"] == "company/spark:4.1"
    assert conf["spark.kubernetes.namespace"] == "data"
    assert conf["spark.executor.instances"] == "7"
    assert conf["spark.yarn.queue"] == "etl"
    assert conf["spark.ui.enabled"] == "true"
    assert conf["spark.sql.shuffle.partitions"] == "400"
    assert conf["spark.hadoop.fs.s3a.connection.maximum"] == "200"


def test_jars_and_java_options_of_others_stand_beside_ours(storage: Make) -> None:
    conf = spark_settings.of_process(
        storage(
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

    assert conf["spark.jars"] == "/jars/a.jar,/jars/b.jar,s3://company/own.jar"
    assert conf["spark.driver.extraClassPath"] == "/jars/a.jar:/jars/b.jar:/opt/own.jar"
    assert conf["spark.driver.extraJavaOptions"].startswith("-Xss4m -Dlog4j2.configurationFile=")


def test_a_process_of_spark_submit_is_told_nothing_that_was_decided_before_it(
    storage: Make,
) -> None:
    conf = spark_settings.of_process(storage('[spark]\nmaster = "spark-submit"'))

    started = {"spark.jars", "spark.driver.extraClassPath", "spark.driver.extraJavaOptions"}
    assert not (started | {"spark.driver.memory", "spark.ui.enabled"}) & set(conf)
    assert conf["spark.sql.catalog.lake"] == "org.apache.iceberg.spark.SparkCatalog"


def test_the_lake_keeps_s3_addresses_with_icebergs_own_way_and_s3a_with_hadoops(
    storage: Make,
) -> None:
    own = spark_settings.of_process(storage(S3))
    hadoop = spark_settings.of_process(storage(S3 + 'io = "hadoop"'))

    assert own["spark.sql.catalog.lake.warehouse"] == "s3://shop/lake"
    assert own["spark.sql.catalog.lake.io-impl"] == "org.apache.iceberg.aws.s3.S3FileIO"
    assert hadoop["spark.sql.catalog.lake.warehouse"] == "s3a://shop/lake"
    assert "spark.sql.catalog.lake.io-impl" not in hadoop


def test_a_session_on_a_server_gets_hadoops_settings_by_hadoops_names(storage: Make) -> None:
    conf = spark_settings.of_session(
        storage(S3 + '[spark.conf]\n"spark.sql.shuffle.partitions" = "9"')
    )

    assert conf["fs.s3a.endpoint"] == "http://127.0.0.1:9000"
    assert conf["fs.s3a.secret.key"] == "very-secret"
    assert conf["spark.sql.shuffle.partitions"] == "9"
    assert not [name for name in conf if name.startswith(("spark.hadoop", "spark.driver"))]


def test_many_files_are_looked_at_by_a_job_on_s3_and_by_the_driver_in_a_folder(
    storage: Make,
) -> None:
    discovery = "spark.sql.sources.parallelPartitionDiscovery"

    assert spark_settings.of_process(storage())[f"{discovery}.threshold"] == "100000"
    assert f"{discovery}.threshold" not in spark_settings.of_process(storage(S3))
    assert spark_settings.of_session(storage(S3))[f"{discovery}.parallelism"] == "64"


def test_secrets_in_the_lakes_options_are_looked_up(storage: Make) -> None:
    toml = '[lake]\ncatalog = "rest"\nuri = "http://lake"\n[lake.options]\ntoken = "env:TOKEN"'
    found = storage(toml)

    assert spark_settings.of_process(found)["spark.sql.catalog.lake.token"] == "t0ken"
    assert found.lake_options() == {"token": "t0ken"}


def test_a_list_of_tables_in_postgresql_has_its_password_apart_from_its_address(
    storage: Make,
) -> None:
    toml = (
        '[lake]\nuri = "postgresql://ann@db:5433/lake"\nschema = "lists"\npassword = "env:SECRET"'
    )
    conf = spark_settings.of_process(storage(toml))

    prefix = "spark.sql.catalog.lake"
    assert conf[f"{prefix}.uri"] == "jdbc:postgresql://db:5433/lake?currentSchema=lists"
    assert conf[f"{prefix}.jdbc.user"] == "ann"
    assert conf[f"{prefix}.jdbc.password"] == "very-secret"


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


def test_a_server_that_is_not_there_is_said_at_once(storage: Make) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(connect.SparkUnreachable, match=f"127.0.0.1:{port}"):
        connect.start(storage(f'[spark]\nremote = "sc://127.0.0.1:{port}"'))
