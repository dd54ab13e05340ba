"""Every error a person can meet: a code made of words, a sentence with names in it, a hint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import ClassVar


@dataclass(eq=False, kw_only=True)
class GoldsmithError(Exception):
    """What went wrong, in words, with the facts as fields."""

    #: The same attempt may pass later. Healing reads this, never the message.
    transient: ClassVar[bool] = False
    #: What a command answers with: 1, the data or the run failed; 2, the request was wrong.
    exit_code: ClassVar[int] = 2

    def __str__(self) -> str:
        return type(self).__doc__ or type(self).__name__

    @property
    def code(self) -> str:
        """The stable name people search for: the class's own."""
        return type(self).__name__

    @property
    def hint(self) -> str:
        """What to do next."""
        return ""

    @property
    def facts(self) -> Mapping[str, object]:
        """The names and numbers of the sentence, for programs."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __reduce__(self) -> tuple[object, ...]:
        # Exception pickles by positional arguments; ours are keyword-only.
        return _rebuild, (type(self), {f.name: getattr(self, f.name) for f in fields(self)})


def _rebuild(kind: type[GoldsmithError], facts: dict[str, object]) -> GoldsmithError:
    return kind(**facts)


@dataclass(eq=False, kw_only=True)
class BadRequest(GoldsmithError):
    """What was asked for makes no sense as it stands."""

    sentence: str
    advice: str = ""

    def __str__(self) -> str:
        return self.sentence

    @property
    def hint(self) -> str:
        return self.advice


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name somebody probably meant, if one is close."""
    close = get_close_matches(name.lower(), [k.lower() for k in known], n=1, cutoff=0.6)
    return next((k for k in known if close and k.lower() == close[0]), None)


def one_of(names: Sequence[str], *, most: int = 12) -> str:
    """A list of names short enough to read."""
    shown = ", ".join(sorted(names)[:most])
    return f"{shown}, … ({len(names)} in all)" if len(names) > most else shown
