"""A row has a secret in plain text instead of a reference such as `env:NAME`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from operator import attrgetter
from typing import Any

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import Edge
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.catalog.rows import Row, key_text
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule

#: Prefixes of values that refer to a secret.
_REFERENCES = ("env:", "file:", "aws-secret:", "${", "{{")
#: Endings of the names of secrets, without hyphens, underscores, dots and spaces.
_ENDINGS = (
    "accesskey",
    "apikey",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "secretkey",
    "token",
)
#: Keys inside these settings are column names.
_COLUMNS_BELOW = ("add_columns", "cast", "columns", "rename")
_BETWEEN_WORDS = str.maketrans("", "", "-_. ")
_KEY_ID = re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")
_USER_AND_PASSWORD = re.compile(r"://[^/\s:@]*:(?!env:|file:|aws-secret:|\$\{|\{\{)[^/\s@]+@")
_PARAMETER = re.compile(
    r"[?&;](?:password|passwd|pwd|secret|token)=(?!env:|file:|aws-secret:|\$\{|\{\{)[^&;\s]",
    re.IGNORECASE,
)
_HINT = (
    "Keep the secret outside and name it here: env:NAME, file:PATH or aws-secret:ARN. Change the"
    " secret itself too: it is in the catalog's history."
)


#: An address with a secret has at least one of these.
_KEY_IDS = ("AKIA", "ASIA")
_MARKS = ("@", "=", *_KEY_IDS)
#: Table, then its columns with addresses, with settings and with SQL.
_WHERE: tuple[tuple[type[Row], tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    (Stage, (), ("options",), ("transform_sql",)),
    (Source, ("s3_path",), ("options",), ()),
    (Target, ("location",), ("options",), ()),
    (Edge, (), (), ("transformation_sql",)),
    (RuleSet, (), ("check_def",), ()),
    (HealingAction, ("action_script",), ("settings",), ()),
    (HealingStep, ("action_script",), ("settings",), ()),
)


@catalog_rule(FindingSeverity.ERROR, reads=tuple(kind for kind, *_ in _WHERE))
def secret_in_plain_text(rows: CatalogRows) -> Iterator[FoundProblem]:
    for kind, addresses, settings, sql in _WHERE:
        for column in addresses:
            if _any_holds(rows.rows(kind), column, _MARKS):
                for row in rows.rows(kind):
                    yield from _in_address(row, column, getattr(row, column))
        for column in sql:
            if _any_holds(rows.rows(kind), column, _KEY_IDS):
                for row in rows.rows(kind):
                    yield from _in_sql(row, column, getattr(row, column))
        for column in settings:
            if any(map(attrgetter(column), rows.rows(kind))):
                for row in rows.rows(kind):
                    yield from _in_settings(row, column, getattr(row, column))


def _any_holds(rows: Collection[Row], column: str, marks: tuple[str, ...]) -> bool:
    """Some row may have a secret in the column; a quick test over all rows at once."""
    texts = "\n".join(filter(None, map(attrgetter(column), rows)))
    return any(mark in texts for mark in marks)


def _in_settings(row: Row, where: str, settings: Any) -> Iterator[FoundProblem]:
    if isinstance(settings, dict):
        for name, value in settings.items():
            if name in _COLUMNS_BELOW and isinstance(value, dict):
                continue
            if _is_secret(str(name), value):
                yield _wrong(row, f"{where}.{name}")
            else:
                yield from _in_settings(row, f"{where}.{name}", value)
    elif isinstance(settings, list | tuple):
        for number, value in enumerate(settings, start=1):
            yield from _in_settings(row, f"{where}[{number}]", value)
    elif isinstance(settings, str):
        yield from _in_address(row, where, settings)


def _is_secret(name: str, value: Any) -> bool:
    if not name.lower().translate(_BETWEEN_WORDS).endswith(_ENDINGS):
        return False
    if isinstance(value, str):
        return value != "" and not value.startswith(_REFERENCES)
    return isinstance(value, int) and not isinstance(value, bool)


def _in_address(row: Row, where: str, text: str | None) -> tuple[FoundProblem, ...]:
    if text is None or not any(mark in text for mark in _MARKS):
        return ()
    if _USER_AND_PASSWORD.search(text) or _PARAMETER.search(text) or _KEY_ID.search(text):
        return (_wrong(row, where),)
    return ()


def _in_sql(row: Row, where: str, text: str | None) -> tuple[FoundProblem, ...]:
    return (_wrong(row, where),) if text is not None and _KEY_ID.search(text) else ()


def _wrong(row: Row, where: str) -> FoundProblem:
    # Never repeat the secret: this sentence goes to screens and logs.
    return FoundProblem(
        row,
        f"The {where} of {row.table.name} row '{key_text(row.key)}' looks like a secret in plain"
        " text.",
        _HINT,
    )
