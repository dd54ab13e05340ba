"""What tests on Spark share: one project, and one local session for the whole run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from goldsmith.engine.session import spark_session
from goldsmith.runtime import Runtime
from goldsmith.storage.storage import Storage

#: As `goldsmith init` would have it, with as little of Spark as small tables need.
_TOML = """\
name = "tests"

[spark]
master = "local[2]"
driver_memory = "1g"

[spark.conf]
"spark.sql.shuffle.partitions" = "2"
"spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""
_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """The parts of an embedded project in a folder of its own."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "goldsmith.toml").write_text(_TOML)
    ours = {name: value for name, value in os.environ.items() if "GOLDSMITH" not in name}
    runtime = Runtime.of(ours, project=folder, environment=None, cwd=folder)
    yield runtime
    runtime.close()


@pytest.fixture(scope="session")
def storage(project: Runtime) -> Storage:
    """Storage and lake of the project."""
    return project.storage


@pytest.fixture(scope="session")
def spark(storage: Storage) -> Iterator[SparkSession]:
    """One session for the whole run; what needs one of its own takes `session.new_session`."""
    started = spark_session.start(storage)
    yield started
    started.stop()
