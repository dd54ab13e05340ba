"""Find the column and the row of a value that a cast or a parse failed on.

Spark's error has the value and, for SQL, the expression. The inputs are searched for the value.
The result is added to the error as a note, which ends the message of the stage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import reduce
from typing import TYPE_CHECKING, Any

from goldsmith.engine.attempt import Attempt
from goldsmith.engine.names import name
from goldsmith.engine.personal_data import MASK, personal
from goldsmith.engine.read.source_file import SOURCE_FILE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CAST = re.compile(r"The value (.*?) of the type \"([^\"]+)\" cannot be cast", re.DOTALL)
_PARSE = re.compile(r"Text ('.*?') could not be parsed", re.DOTALL)
_SUFFIX = re.compile(r"(?<=\d)(?:L|S|Y|D|F|BD)$")


@contextmanager
def named(attempt: Attempt, inputs: Mapping[str, DataFrame]) -> Iterator[None]:
    """Add the location of the bad value, if found, to an error raised inside the block."""
    try:
        yield
    except Exception as error:
        if attempt.cancel.cause is None:
            # A failing search must not hide why the stage failed.
            with suppress(Exception):
                for note in _notes(error, attempt, inputs):
                    error.add_note(note)
        raise


def _notes(error: Exception, attempt: Attempt, inputs: Mapping[str, DataFrame]) -> Iterator[str]:
    text = str(error)
    if found := _CAST.search(text):
        value, type_ = found[1], found[2]
    elif found := _PARSE.search(text):
        value, type_ = found[1], "STRING"
    else:
        return
    value = value[1:-1] if value.startswith("'") else _SUFFIX.sub("", value)
    target = attempt.context.target.target if attempt.context.target is not None else None
    hidden = personal(target)
    for dataset, rows in inputs.items():
        where = _first(rows, value, type_, _mentioned(error), attempt.context.stage.keys or ())
        if where is not None:
            column, row = where
            known = ", ".join(
                f"{key} = {MASK if key.lower() in hidden else cell}"
                for key, cell in row.items()
                if key not in (column, SOURCE_FILE)
            )
            file = f" in {row[SOURCE_FILE]}" if row.get(SOURCE_FILE) else ""
            yield f"It is in column {column} of {dataset}{file}{f' ({known})' if known else ''}."
            return


def _mentioned(error: Exception) -> str:
    """The failed expression, as written in the SQL."""
    contexts: list[Any] = []
    with suppress(Exception):
        contexts = getattr(error, "getQueryContext", list)()
    return " ".join(str(context.fragment()) for context in contexts)


def _first(
    rows: DataFrame, value: str, type_: str, expression: str, keys: Any
) -> tuple[str, dict[str, Any]] | None:
    """Column and first row with a value; columns named in the expression are searched first."""
    from pyspark.sql import functions as F

    candidates = [f.name for f in rows.schema.fields if f.dataType.simpleString().upper() == type_]
    candidates = [column for column in candidates if column != SOURCE_FILE]
    written = [
        c for c in candidates if re.search(rf"\b{re.escape(c)}\b", expression, re.IGNORECASE)
    ]
    for columns in (written, candidates):
        if not columns:
            continue
        holds = [F.col(name(column)).cast("string") == value for column in columns]
        shown_columns = {*columns, *keys, SOURCE_FILE}
        shown = [F.col(name(column)) for column in rows.columns if column in shown_columns]
        found = rows.where(reduce(lambda left, right: left | right, holds)).select(*shown).head()
        if found is not None:
            row = found.asDict()
            column = next(column for column in columns if str(row[column]) == value)
            shown_row = {key: row[key] for key in (*keys, SOURCE_FILE) if key in row}
            return column, shown_row
    return None
