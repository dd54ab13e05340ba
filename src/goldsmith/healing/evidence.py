"""Evidence: what an exception, or the text of a log, says about its cause.

Spark, Java, AWS and databases each report a cause in their own way: an error condition, a
SQLSTATE, a class name, an errno. This module collects all of them, so that one table of signals
(`signals.py`) serves for exceptions and for printed logs.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from goldsmith.errors import GoldsmithError

#: `[CAST_INVALID_INPUT] …`, `[UNRESOLVED_COLUMN.WITH_SUGGESTION] …`
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]{4,}(?:\.[A-Z0-9_]+)*)\]")
#: As printed by Spark, psql, Python drivers and pgjdbc.
_SQLSTATE = re.compile(
    r"SQL\s?STATE[:=\s(\[]*'?([0-9A-Z]{5})\b|'C': '([0-9A-Z]{5})'", re.IGNORECASE
)
#: `org.apache.iceberg.exceptions.CommitFailedException`, `botocore.exceptions.ClientError`
_CLASS = re.compile(r"\b(?:[a-z_][\w$]*\.)*([A-Z]\w*(?:Exception|Error|Interrupt|Throwable))\b")
#: `An error occurred (SlowDown) when calling …`; `Status Code: 503; Error Code: SlowDown`
_AWS = re.compile(
    r"An error occurred \(([\w.]+)\)|Error Code: (\w+)|errorCode=(\w+)|: (\w+):null\b"
)
_HTTP = re.compile(r"[Ss]tatus [Cc]ode:? (\d{3})")
_ERRNO = re.compile(r"\[Errno (\d+)\]")
#: Stop here: a longer chain of causes is a circle.
_MOST_CAUSES = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What is known about a failure, the innermost cause last."""

    text: str
    #: Spark's error conditions.
    conditions: tuple[str, ...] = ()
    sqlstates: tuple[str, ...] = ()
    #: Names of classes, without their packages: Java's, Python's and our own.
    classes: tuple[str, ...] = ()
    #: AWS error codes and HTTP statuses, as `SlowDown` and `503`.
    answers: tuple[str, ...] = ()
    #: `ENOSPC` and the like.
    errnos: tuple[str, ...] = ()


def of_text(text: str) -> Evidence:
    """The evidence in a log or a message."""
    return Evidence(
        text=text,
        conditions=_once(_CONDITION.findall(text)),
        sqlstates=_once(_groups(_SQLSTATE, text)),
        classes=_once(_CLASS.findall(text)),
        answers=_once([*_groups(_AWS, text), *_HTTP.findall(text)]),
        errnos=_once(_named(int(found)) for found in _ERRNO.findall(text)),
    )


def of_exception(error: BaseException) -> Evidence:
    """The evidence in an exception and the chain of its causes."""
    chain = list(_chain(error))
    read = of_text("\n".join(_text(each) for each in chain))
    return Evidence(
        text=read.text,
        conditions=_once([*filter(None, map(_condition, chain)), *read.conditions]),
        sqlstates=_once([*filter(None, map(_sqlstate, chain)), *read.sqlstates]),
        classes=_once([*(name for each in chain for name in _classes(each)), *read.classes]),
        answers=_once([*(answer for each in chain for answer in _answers(each)), *read.answers]),
        errnos=_once([*filter(None, map(_errno, chain)), *read.errnos]),
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    left: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if left is None:
            return
        yield left
        left = left.__cause__ or (None if left.__suppress_context__ else left.__context__)


def _classes(error: BaseException) -> Iterator[str]:
    # If the JVM is gone, py4j raises a plain OSError: connection refused, as by any other server.
    if isinstance(error, OSError) and _comes_from(error, "py4j."):
        yield "Py4JNetworkError"
    yield type(error).__name__


def _comes_from(error: BaseException, package: str) -> bool:
    frames = error.__traceback__
    while frames is not None:
        if str(frames.tb_frame.f_globals.get("__name__", "")).startswith(package):
            return True
        frames = frames.tb_next
    return False


def _text(error: BaseException) -> str:
    """The message, with the JVM's stack trace where pyspark has it."""
    parts = [str(error)]
    if isinstance(error, GoldsmithError):
        parts.append(f"{error.code}")
    stack = getattr(error, "_stackTrace", None) or getattr(error, "_stacktrace", None)
    if isinstance(stack, str):
        parts.append(stack)
    return "\n".join(parts)


def _condition(error: BaseException) -> str | None:
    return _text_of_method(error, "getCondition")


def _sqlstate(error: BaseException) -> str | None:
    own = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    if isinstance(own, str):
        return own
    first = error.args[0] if error.args else None
    if isinstance(first, dict) and isinstance(first.get("C"), str):
        return str(first["C"])  # redshift_connector raises the server's fields as a dict
    return _text_of_method(error, "getSqlState")


def _text_of_method(error: BaseException, method: str) -> str | None:
    call = getattr(error, method, None)
    if not callable(call):
        return None
    try:
        text = call()
    except Exception:
        return None  # the JVM is gone; other evidence shows that
    return text if isinstance(text, str) and text else None


def _answers(error: BaseException) -> Iterator[str]:
    """AWS error code and HTTP status, or the gRPC status of a Spark Connect server."""
    response: Any = getattr(error, "response", None)
    if isinstance(response, dict):
        code = response.get("Error", {}).get("Code")
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        yield from (str(value) for value in (code, status) if value)
    status_of = getattr(error, "code", None)
    if callable(status_of) and type(error).__module__.startswith("grpc"):
        yield f"grpc:{status_of().name}"


def _errno(error: BaseException) -> str | None:
    number = error.errno if isinstance(error, OSError) else None
    return None if number is None else _named(number)


def _named(number: int) -> str:
    return errno.errorcode.get(number, str(number))


def _groups(pattern: re.Pattern[str], text: str) -> list[str]:
    return [next(filter(None, found), "") for found in pattern.findall(text)]


def _once(found: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in found if each))
