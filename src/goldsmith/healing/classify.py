"""Classify an exception, or the text of one, as an error code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from goldsmith.errors import GoldsmithError
from goldsmith.healing.codes import UNCLASSIFIED, ErrorCode, codes
from goldsmith.healing.evidence import Evidence, of_exception, of_text
from goldsmith.healing.signals import signals

_ACCESS = frozenset(
    (
        "AccessDenied",
        "CredentialsExpired",
        "CredentialsWrong",
        "CredentialsMissing",
        "ClockSkewed",
        "TlsFailed",
    )
)
_SOURCES = _ACCESS | {"SourceThrottled", "SourceMissing"}
_VALUES = frozenset(
    ("DuplicateRows", "NullNotAllowed", "ValueTooLong", "ValueDoesNotFit", "DivideByZero")
)
#: Errors of ours that may have several causes, and the codes their evidence may refine them to.
_VAGUE: Mapping[str, frozenset[str]] = {
    "SourceUnreachable": _SOURCES,
    "SchemaUnreachable": _SOURCES,
    "FileUnreadable": frozenset(("RecordMalformed", "ExecutorOutOfMemory")),
    "WarehouseBusy": frozenset(
        (
            "SerializationConflict",
            "Deadlock",
            "LockTimeout",
            "TooManyConnections",
            "WarehouseFull",
            "WarehouseOutOfMemory",
        )
    ),
    "WarehouseUnreachable": _ACCESS | {"TooManyConnections", "WarehouseReadOnly"},
    "LoadRefused": _SOURCES
    | _VALUES
    | {"TableUnknown", "ColumnUnknown", "TypesDoNotMatch", "TransactionAborted"}
    | {"WarehouseReadOnly", "NotSupported"},
    "LoadCancelled": frozenset(("StatementTimeout",)),
    "CommitConflict": frozenset(("BranchBroken",)),
}
#: Errors of ours that are classified under the code of another error.
_ALIASES: Mapping[str, str] = {"LostRace": "CommitConflict", "LoadGivenUp": "Fenced"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Classified:
    """The error code of an error."""

    code: ErrorCode
    #: Further codes that fit, less specific than the first.
    also: tuple[str, ...] = ()


def classify(error: BaseException) -> Classified:
    """The code of an exception; `Unclassified` if no signal fits."""
    fitting = _fitting(of_exception(error))
    own = _own(error)
    if own is None and isinstance(error, GoldsmithError):
        return Classified(code=_by_class(error), also=tuple(dict.fromkeys(fitting)))
    if own is None:
        return _classified(fitting)
    refined = [code for code in fitting if code in _VAGUE.get(own, ())]
    return _classified([*refined, own])


def classify_text(text: str) -> Classified:
    """The code of a printed error: a message, a stack trace, a log."""
    seen = of_text(text)
    ours = [name for name in seen.classes if name in codes()]
    return _classified([*_fitting(seen), *ours])


def _own(error: BaseException) -> str | None:
    """The declared code of one of our own errors; None for any other error."""
    if not isinstance(error, GoldsmithError):
        return None
    own = _ALIASES.get(type(error).__name__, error.code)
    return own if own in codes() else None


def _by_class(error: GoldsmithError) -> ErrorCode:
    """Make a code from one of our own errors that `codes.toml` does not declare."""
    return ErrorCode(
        name=error.code,
        family="goldsmith",
        cause=(type(error).__doc__ or "").strip(),
        advice=error.hint or "",
        may_pass=error.transient,
    )


def _fitting(seen: Evidence) -> list[str]:
    return [signal.code for signal in signals() if signal.fits(seen)]


def _classified(fitting: list[str]) -> Classified:
    first, *rest = dict.fromkeys(fitting) if fitting else (UNCLASSIFIED,)
    return Classified(code=codes()[first], also=tuple(rest))
