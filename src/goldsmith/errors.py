"""The base of every error that users see: a code, a sentence, a hint and facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, ClassVar


@dataclass(eq=False, kw_only=True)
class GoldsmithError(Exception):
    """An error with a sentence for people and its facts as fields."""

    #: The same attempt may succeed later. Healing reads this, never the message.
    transient: ClassVar[bool] = False
    #: The exit code of a command: 1, the data or the run failed; 2, the request was wrong.
    exit_code: ClassVar[int] = 2

    def __str__(self) -> str:
        return type(self).__doc__ or type(self).__name__

    @property
    def code(self) -> str:
        """The stable error code: the name of the class."""
        return type(self).__name__

    @property
    def hint(self) -> str:
        """What to do next."""
        return ""

    @property
    def facts(self) -> Mapping[str, object]:
        """The names and numbers of the sentence, for programs: the fields of the class."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __reduce__(self) -> tuple[object, ...]:
        # Exception pickles by positional arguments; ours are keyword-only.
        return _rebuild, (type(self), {f.name: getattr(self, f.name) for f in fields(self)})


def _rebuild(kind: type[GoldsmithError], facts: dict[str, object]) -> GoldsmithError:
    return kind(**facts)


@dataclass(eq=False, kw_only=True)
class BadRequest(GoldsmithError):
    """A command or setting is not valid."""

    sentence: str
    advice: str = ""

    def __str__(self) -> str:
        return self.sentence

    @property
    def hint(self) -> str:
        return self.advice


def plain_facts(value: object, hide: Callable[[str], str]) -> Any:
    """Facts as JSON values; secrets are redacted first, because quoting would disguise them."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {hide(str(key)): plain_facts(item, hide) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_facts(item, hide) for item in value]
    return hide(str(value))


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name closest to a misspelt name, if any is close."""
    close = get_close_matches(name.lower(), [k.lower() for k in known], n=1, cutoff=0.7)
    return next((k for k in known if close and k.lower() == close[0]), None)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 row`, `2 rows`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def one_of(names: Sequence[str], *, most: int = 12) -> str:
    """A list of names short enough to read."""
    shown = ", ".join(sorted(names)[:most]) or "none"
    return f"{shown}, … ({len(names)} in all)" if len(names) > most else shown
