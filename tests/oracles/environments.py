"""Environments of other tools: made once beside the jars, found by every run after it.

$GREAT_EXPECTATIONS_PYTHON and $DBT_PYTHON name a Python that has the tool already.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from pyspark import __version__ as spark_version

from goldsmith.setup.java import cache_folder

_PACKAGES = {
    "great_expectations": ("great_expectations>=1.9,<2", "pandas", f"pyspark=={spark_version}"),
    # Its server does not import with later connectors.
    "fakesnow": ("fakesnow[server]>=0.12.1,<0.13", "snowflake-connector-python==4.8.1"),
    "snowflake": ("snowflake-connector-python==4.8.1", "sqlglot>=30,<31"),
    "hive": ("pyhive[hive_pure_sasl]>=0.7,<0.8", "sqlglot>=30,<31"),
    "dbt": ("dbt-core>=1.9,<1.12", "dbt-duckdb>=1.9,<2"),
}


def python_of(tool: str) -> Path:
    """The Python of the tool's environment; the test is skipped where none can be made."""
    variable = f"{tool.upper()}_PYTHON"
    named = os.environ.get(variable)
    if named is not None:
        if not Path(named).exists():
            pytest.skip(f"${variable} is {named}, which is not there")
        return Path(named)
    packages = _PACKAGES[tool]
    key = hashlib.sha256(repr((packages, sys.version_info[:2])).encode()).hexdigest()[:12]
    folder = cache_folder() / "peers" / f"{tool}-{key}"
    # Written last: an environment without it was not finished.
    ready = folder / "ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            why = done.stderr.strip()[-300:]
            pytest.skip(
                f"{tool} cannot be installed (${variable} may name a Python with it): {why}"
            )
        ready.touch()
    return folder / "bin" / "python"
