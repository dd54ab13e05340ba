"""dbt as an oracle: cases as models of a project on DuckDB, their checks as its tests."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_PROJECT = """
name: peers
version: "1.0"
profile: peers
vars: {"dbt_date:time_zone": "UTC"}
"""
_PROFILES = """
peers:
  target: dev
  outputs:
    dev: {type: duckdb, path: "peers.duckdb"}
"""
_PACKAGES = {
    "dbt_utils": {"package": "dbt-labs/dbt_utils", "version": [">=1.1.0", "<2.0.0"]},
    "dbt_expectations": {
        "package": "metaplane/dbt_expectations",
        "version": [">=0.10.8", "<0.11.0"],
    },
}


class NoPackages(Exception):
    """The package hub cannot be reached."""


@dataclass(frozen=True, kw_only=True)
class Project:
    """A dbt project in a folder of its own."""

    folder: Path
    dbt: Path

    def verdicts(self, cases: Sequence[Mapping[str, Any]]) -> dict[tuple[int, int], str]:
        """What dbt says of each check of each case: pass, fail or error."""
        tools = {check["type"].split(".")[0] for case in cases for check in case["checks"]}
        self._write(cases, [_PACKAGES[tool] for tool in sorted(tools & set(_PACKAGES))])
        if tools & set(_PACKAGES) and self._run("deps").returncode:
            raise NoPackages
        built = self._run("run")
        assert built.returncode == 0, built.stdout[-3000:]
        self._run("test")
        results = json.loads((self.folder / "target" / "run_results.json").read_text())["results"]
        statuses: dict[tuple[int, int], str] = {}
        for result in results:
            name = result["unique_id"].split(".")[2]
            if name.startswith("check_"):
                _, case, check = name.split("_")
                statuses[int(case), int(check)] = str(result["status"])
        return statuses

    def _write(self, cases: Sequence[Mapping[str, Any]], packages: list[Any]) -> None:
        models = self.folder / "models"
        models.mkdir(parents=True)
        (self.folder / "dbt_project.yml").write_text(_PROJECT)
        (self.folder / "profiles.yml").write_text(_PROFILES)
        if packages:
            (self.folder / "packages.yml").write_text(yaml.safe_dump({"packages": packages}))
        tested = []
        for number, case in enumerate(cases):
            name = f"case_{number}"
            (models / f"{name}.sql").write_text(_select(case["schema"], case["rows"]))
            for other, rows in (case.get("datasets") or {}).items():
                text = _select(rows["schema"], rows["rows"])
                (models / f"{name}_{other}.sql").write_text(text)
            tested.append(_tested(name, number, case["checks"]))
        schema = {"version": 2, "models": tested}
        (models / "schema.yml").write_text(yaml.safe_dump(schema, sort_keys=False))

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "PYTHONPATH": ""}
        return subprocess.run(
            [str(self.dbt), *arguments, "--profiles-dir", "."],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )


def _select(schema: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows as a query of DuckDB; `string` is one of its types too."""
    columns = [part.strip().rsplit(" ", 1) for part in schema.split(", ")]
    typed = [
        "select "
        + ", ".join(
            f'cast({_literal(row.get(name))} as {type_}) as "{name}"' for name, type_ in columns
        )
        for row in rows
    ]
    none = "select " + ", ".join(f'cast(null as {type_}) as "{name}"' for name, type_ in columns)
    return " union all ".join(typed) if typed else f"{none} where false"


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    return "'" + str(value).replace("'", "''") + "'"


def _tested(model: str, number: int, checks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    tests: list[Any] = []
    for index, check in enumerate(checks):
        settings = {name: value for name, value in check.items() if name != "type"}
        if "column" in settings:
            settings["column_name"] = settings.pop("column")
        for name in ("to", "compare_model"):
            if name in settings:
                settings[name] = f"ref('{model}_{settings[name]}')"
        kind = check["type"].removeprefix("dbt.")
        tests.append({kind: {"name": f"check_{number}_{index}", **settings}})
    return {"name": model, "data_tests": tests}
