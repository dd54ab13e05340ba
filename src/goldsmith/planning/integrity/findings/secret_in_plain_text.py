"""A row holds a secret as plain text; it belongs outside, and the row holds a reference to it."""

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
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule

#: What a value that is no secret itself begins with.
_REFERENCES = ("env:", "file:", "aws-secret:", "${", "{{")
#: How the names of secrets end, without the characters between their words.
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
#: Below these, names are those of columns.
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


#: What an address with a secret in it holds.
_KEY_IDS = ("AKIA", "ASIA")
_MARKS = ("@", "=", *_KEY_IDS)
#: table → its columns that are addresses, settings and SQL.
_WHERE: tuple[tuple[type[Row], tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    (Stage, (), ("options",), ("transform_sql",)),
    (Source, ("s3_path",), ("options",), ()),
    (Target, ("location",), ("options",), ()),
    (Edge, (), (), ("transformation_sql",)),
    (RuleSet, (), ("check_def",), ()),
    (HealingAction, ("action_script",), ("settings",), ()),
    (HealingStep, ("action_script",), ("settings",), ()),
)


@catalog_rule(Gravity.ERROR, reads=tuple(kind for kind, *_ in _WHERE))
def secret_in_plain_text(rows: Snapshot) -> Iterator[Wrong]:
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
    """Some row may have a secret there: one look over all texts at once is soon done."""
    texts = "\n".join(filter(None, map(attrgetter(column), rows)))
    return any(mark in texts for mark in marks)


def _in_settings(row: Row, where: str, said: Any) -> Iterator[Wrong]:
    if isinstance(said, dict):
        for name, value in said.items():
            if name in _COLUMNS_BELOW and isinstance(value, dict):
                continue
            if _is_secret(str(name), value):
                yield _wrong(row, f"{where}.{name}")
            else:
                yield from _in_settings(row, f"{where}.{name}", value)
    elif isinstance(said, list | tuple):
        for place, value in enumerate(said, start=1):
            yield from _in_settings(row, f"{where}[{place}]", value)
    elif isinstance(said, str):
        yield from _in_address(row, where, said)


def _is_secret(name: str, value: Any) -> bool:
    if not name.lower().translate(_BETWEEN_WORDS).endswith(_ENDINGS):
        return False
    if isinstance(value, str):
        return value != "" and not value.startswith(_REFERENCES)
    return isinstance(value, int) and not isinstance(value, bool)


def _in_address(row: Row, where: str, text: str | None) -> tuple[Wrong, ...]:
    if text is None or not any(mark in text for mark in _MARKS):
        return ()
    if _USER_AND_PASSWORD.search(text) or _PARAMETER.search(text) or _KEY_ID.search(text):
        return (_wrong(row, where),)
    return ()


def _in_sql(row: Row, where: str, text: str | None) -> tuple[Wrong, ...]:
    return (_wrong(row, where),) if text is not None and _KEY_ID.search(text) else ()


def _wrong(row: Row, where: str) -> Wrong:
    # The secret itself is never repeated: this sentence goes to screens and logs.
    return Wrong(
        row,
        f"The {where} of {row.table.name} row '{key_text(row.key)}' looks like a secret in plain"
        " text.",
        _HINT,
    )
