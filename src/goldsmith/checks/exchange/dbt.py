"""dbt's `schema.yml` tests from a rule set, and a rule set from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from goldsmith.checks.aliases.dbt import DBT, DBT_UTILS
from goldsmith.checks.aliases.dbt_expectations import ALIASES as DBT_EXPECTATIONS
from goldsmith.checks.aliases.translate import translated
from goldsmith.checks.exchange.reversed import Settings, Ways, written

_TOOLS = {"": DBT, "dbt_utils.": DBT_UTILS, "dbt_expectations.": DBT_EXPECTATIONS}
_SEVERITIES = {"critical": "error", "warning": "warn", "info": "warn"}


def _unique(ours: Settings) -> Iterator[tuple[str, Settings]]:
    columns = ours.pop("columns", None) or ours.pop("column", None)
    if ours:
        return
    listed = [columns] if isinstance(columns, str) else list(columns or ())
    if len(listed) == 1:
        yield "unique", {"column_name": listed[0]}
    else:
        yield "unique_combination_of_columns", {"combination_of_columns": listed}


def _values(name: str) -> Callable[[Settings], Iterator[tuple[str, Settings]]]:
    """Numbers are values there only where they are not put in quotes."""

    def said(ours: Settings) -> Iterator[tuple[str, Settings]]:
        yield name, {("column_name" if key == "column" else key): ours[key] for key in ours}
        if not any(isinstance(value, str) for value in ours.get("values", ())):
            yield name, {"column_name": ours["column"], "values": ours["values"], "quote": False}

    return said


_WAYS: Ways = {
    "unique": _unique,
    "one_of": _values("accepted_values"),
    "not_one_of": _values("not_accepted_values"),
}
_TAKES = frozenset(("column", "values", "to", "field"))


def schema_of(model: str, checks: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """A `schema.yml` with the tests of one model, and the checks dbt cannot say."""
    columns: dict[str, list[Any]] = {}
    tests: list[Any] = []
    left: list[str] = []
    for entry in checks:
        found = _test(entry)
        if found is None:
            left.append(str(entry["type"]))
            continue
        name, settings, config = found
        column = settings.pop("column_name", None) or settings.pop("column", None)
        body = {**({"arguments": settings} if settings else {}), **config}
        test: Any = {name: body} if body else name
        if column is None:
            tests.append(test)
        else:
            columns.setdefault(str(column), []).append(test)
    said: dict[str, Any] = {"name": model}
    if tests:
        said["data_tests"] = tests
    if columns:
        said["columns"] = [{"name": name, "data_tests": own} for name, own in columns.items()]
    return {"version": 2, "models": [said]}, left


def _test(entry: Mapping[str, Any]) -> tuple[str, Settings, Settings] | None:
    for prefix, aliases in _TOOLS.items():
        found = written(entry, aliases, takes=_TAKES, other_ways=_WAYS, prefix=prefix or "dbt.")
        if found is None or found[0] not in aliases:
            continue
        ours = translated(entry)
        config: Settings = {}
        if ours.get("where") is not None:
            config["where"] = ours["where"]
        severity = _SEVERITIES[str(ours.get("severity", "critical"))]
        if severity != "error":
            config["severity"] = severity
        settings = dict(found[1])
        if found[0] == "relationships":
            settings["to"] = f"ref('{settings['to']}')"
        return f"{prefix}{found[0]}", settings, {"config": config} if config else {}
    return None


def checks_of(schema: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The check_def of every model, by our names."""
    found: dict[str, list[dict[str, Any]]] = {}
    for model in schema.get("models", ()):
        checks = [_check(test, None) for test in _tests(model)]
        for column in model.get("columns", ()):
            checks += [_check(test, str(column["name"])) for test in _tests(column)]
        found[str(model["name"])] = checks
    return found


def _tests(owner: Mapping[str, Any]) -> Sequence[Any]:
    return [*(owner.get("data_tests") or ()), *(owner.get("tests") or ())]


def _check(test: Any, column: str | None) -> dict[str, Any]:
    name, body = (test, {}) if isinstance(test, str) else next(iter(test.items()))
    said = dict(body or {})
    said |= said.pop("arguments", None) or {}
    config = dict(said.pop("config", None) or {})
    severity = said.pop("severity", None) or config.get("severity")
    where = said.pop("where", None) or config.get("where")
    said.pop("name", None)
    tool = name if "." in name else f"dbt.{name}"
    entry = {"type": tool, **said}
    if column is not None:
        entry["column_name"] = column
    ours = dict(translated(entry))
    if severity is not None:
        ours["severity"] = {"error": "critical", "warn": "warning"}.get(str(severity), severity)
    if where is not None:
        ours["where"] = str(where)
    return ours
