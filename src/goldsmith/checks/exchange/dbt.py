"""Export a rule set as tests of a dbt `schema.yml`, and import such tests as rule sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from goldsmith.checks.aliases.dbt import DBT, DBT_UTILS
from goldsmith.checks.aliases.dbt_expectations import ALIASES as DBT_EXPECTATIONS
from goldsmith.checks.aliases.translate import SILENT, translated
from goldsmith.checks.exchange.reverse_alias import Settings, Ways, why_not, written

_TOOLS = {"": DBT, "dbt_utils.": DBT_UTILS, "dbt_expectations.": DBT_EXPECTATIONS}
#: dbt has no severity `info`: such a check is left out.
_SEVERITIES = {"critical": "error", "warning": "warn"}
#: Settings dbt does not have: the test's meta keeps them for an import.
_META = ("on_fail", "scope", "name", "description")
#: The keys of a test's config that an import accepts.
_CONFIG = frozenset(
    ("severity", "where", "meta", "error_if", "warn_if", "enabled", "tags", "group")
)
_MORE_THAN = re.compile(r">\s*(\d+)")


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
    """dbt quotes listed values by default; numbers need `quote: false`."""

    def ways(ours: Settings) -> Iterator[tuple[str, Settings]]:
        yield name, {("column_name" if key == "column" else key): ours[key] for key in ours}
        if not any(isinstance(value, str) for value in ours.get("values", ())):
            yield name, {"column_name": ours["column"], "values": ours["values"], "quote": False}

    return ways


_WAYS: Ways = {
    "unique": _unique,
    "one_of": _values("accepted_values"),
    "not_one_of": _values("not_accepted_values"),
}
_TAKES = frozenset(("column", "values", "to", "field"))


def schema_of(
    model: str, checks: Sequence[Mapping[str, Any]], *, severity: str = "critical"
) -> tuple[dict[str, Any], list[str]]:
    """A `schema.yml` with the tests of one model, and the checks dbt cannot express.

    `severity` is the rule set's: the default for its checks.
    """
    columns: dict[str, list[Any]] = {}
    tests: list[Any] = []
    left: list[str] = []
    for entry in checks:
        ours = {"severity": severity, **translated(entry)}
        found = _test(ours) if ours["severity"] in _SEVERITIES else None
        if found is None:
            left.append(_left_out(entry, ours))
            continue
        name, settings, config = found
        column = settings.pop("column_name", None) or settings.pop("column", None)
        body = {**({"arguments": settings} if settings else {}), **config}
        test: Any = {name: body} if body else name
        if column is None:
            tests.append(test)
        else:
            columns.setdefault(str(column), []).append(test)
    tested: dict[str, Any] = {"name": model}
    if tests:
        tested["data_tests"] = tests
    if columns:
        tested["columns"] = [{"name": name, "data_tests": own} for name, own in columns.items()]
    return {"version": 2, "models": [tested]}, left


def _left_out(entry: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """Describe a check that is left out by its name and its column."""
    of = ours.get("column") or ours.get("columns")
    severity = f" with severity {ours['severity']}" if ours["severity"] not in _SEVERITIES else ""
    return f"{entry['type']}{f' of {of}' if of else ''}{severity}"


def _test(entry: Mapping[str, Any]) -> tuple[str, Settings, Settings] | None:
    for prefix, aliases in _TOOLS.items():
        found = written(entry, aliases, takes=_TAKES, other_ways=_WAYS, prefix=prefix or "dbt.")
        if found is None or found[0] not in aliases:
            continue
        config: Settings = {}
        if entry.get("where") is not None:
            config["where"] = entry["where"]
        severity = _SEVERITIES[str(entry["severity"])]
        if severity != "error":
            config["severity"] = severity
        if entry.get("max_broken"):
            config |= dict.fromkeys(("error_if", "warn_if"), f">{entry['max_broken']}")
        if meta := {name: entry[name] for name in _META if entry.get(name)}:
            config["meta"] = {"goldsmith": meta}
        settings = dict(found[1])
        if found[0] == "relationships":
            # dbt requires it; Goldsmith's default is the column of the same name.
            settings.setdefault("field", settings.get("column_name") or settings.get("column"))
        for name in ("to", "compare_model"):
            if name in settings:
                settings[name] = f"ref('{settings[name]}')"
        return f"{prefix}{found[0]}", settings, {"config": config} if config else {}
    return None


def checks_of(schema: Mapping[str, Any]) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """The check_def of every model, and the tests that cannot be imported."""
    found: dict[str, list[dict[str, Any]]] = {}
    unknown: list[str] = []
    for model in schema.get("models") or ():
        name = str(model["name"])
        found[name] = []
        owners = [(None, model), *((str(c["name"]), c) for c in model.get("columns") or ())]
        for column, owner in owners:
            for test in _tests(owner):
                check, problems = _check(test, column)
                problems = problems or why_not(check)
                if problems:
                    of = f"{name}.{column}" if column else name
                    unknown.append(f"{_test_name(test)} of {of}: {'; '.join(problems)}")
                else:
                    found[name].append(check)
    return found, unknown


def _tests(owner: Mapping[str, Any]) -> Sequence[Any]:
    return [*(owner.get("data_tests") or ()), *(owner.get("tests") or ())]


def _test_name(test: Any) -> str:
    named = test.get("test_name") if isinstance(test, dict) else None
    return str(named or (test if isinstance(test, str) else next(iter(test))))


def _check(test: Any, column: str | None) -> tuple[dict[str, Any], list[str]]:
    """The test as a check_def entry, and the reasons why it cannot be imported."""
    name = _test_name(test)
    body = {} if isinstance(test, str) else test if "test_name" in test else test[name]
    arguments = {key: value for key, value in dict(body or {}).items() if key != "test_name"}
    arguments |= arguments.pop("arguments", None) or {}
    config = dict(arguments.pop("config", None) or {})
    config |= {key: arguments.pop(key) for key in _CONFIG if key in arguments}
    problems = [f"it says {key}" for key in config if key not in _CONFIG]
    severity, where = config.get("severity"), config.get("where")
    mine = dict((config.get("meta") or {}).get("goldsmith") or {})
    if config.get("enabled", True) is not True:
        problems.append("it is not enabled")
    limits = {str(config[key]) for key in ("error_if", "warn_if") if config.get(key) is not None}
    if limits:
        limit = _MORE_THAN.fullmatch(limits.pop().strip())
        if limit is None or limits:
            problems.append("it says error_if or warn_if")
        else:
            mine["max_broken"] = int(limit[1])
    arguments.pop("name", None)
    arguments.pop("description", None)
    tool = name if "." in name else f"dbt.{name}"
    entry = {"type": tool, **arguments}
    if column is not None:
        entry["column_name"] = column
    ours = {**translated(entry), **mine}
    problems += [f"it says {key}" for key in arguments if key in SILENT]
    if severity is not None:
        level = str(severity).lower()
        ours["severity"] = {"error": "critical", "warn": "warning"}.get(level, severity)
    if where is not None:
        ours["where"] = str(where)
    return ours, problems
