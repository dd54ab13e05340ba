"""Reading the SQL of many stages: each shape of text is parsed once, ever.

Parsing costs a thousand times what planning a stage does, so facts are kept by the hash of the
text; and because a thousand pipelines made from one template differ only in dataset ids, ids are
replaced by placeholders before hashing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from goldsmith.planning.query import QueryFacts, parse

#: Longer texts are refused: nobody reads them, and a parser takes minutes over them.
MOST_CHARACTERS = 1_000_000
#: Part of every hash: raise it when the meaning of a fact changes.
_FACTS_VERSION = "1"
_WORD = re.compile(r"([\w$.]+)", re.ASCII)
_MARK = "goldsmith_dataset_"
_PLACEHOLDER = re.compile(rf"{_MARK}\d+_")
#: More would cost a text that fits none of them more than they save.
_MOST_TEMPLATES = 8


class Template(NamedTuple):
    """A shape as a pattern: of texts made from one template only the first are split into words.

    A text that fits has known ids where the shape has its placeholders and the same words
    elsewhere, and none of those was an id when the shape was made.
    """

    pattern: re.Pattern[str]
    marks: tuple[str, ...]
    dialect: str | None
    facts: QueryFacts
    #: Nothing but what it reads names an id.
    only_reads: bool

    @classmethod
    def of(cls, shape: str, dialect: str | None, facts: QueryFacts) -> Template:
        pieces = _PLACEHOLDER.split(shape)
        said = [re.escape(pieces[0])]
        groups: dict[str, int] = {}
        for mark, piece in zip(_PLACEHOLDER.findall(shape), pieces[1:], strict=True):
            known = groups.get(mark)
            groups.setdefault(mark, len(groups) + 1)
            said.append(r"([\w$.]+)" if known is None else rf"\{known}(?![\w$])")
            said.append(re.escape(piece))
        only_reads = _MARK not in repr(facts._replace(reads=()))
        pattern = re.compile("".join(said), re.ASCII)
        return cls(pattern, tuple(groups), dialect, facts, only_reads)

    def facts_of(self, text: str, known: frozenset[str]) -> QueryFacts | None:
        """The facts of a text, if it fits."""
        match = self.pattern.fullmatch(text)
        if match is None:
            return None
        ids = match.groups()
        if not known.issuperset(ids) or len(set(ids)) < len(ids):
            return None
        there = dict(zip(self.marks, ids, strict=True))
        if not self.only_reads:
            return _with_ids(self.facts, there)
        facts = self.facts
        reads = tuple([there.get(name, name) for name in facts.reads])
        # Written out: `_replace` takes three times as long, and most texts come by here.
        return QueryFacts(facts.error, facts.line, reads, *facts[3:])


class SqlReader:
    """Reads SQL texts against the known dataset ids, parsing each shape of text once."""

    def __init__(self, dataset_ids: frozenset[str], kept: Mapping[str, str] | None = None) -> None:
        self._ids = dataset_ids
        #: Facts by hash, as JSON text, from earlier processes.
        self._kept = dict(kept or {})
        self._seen: dict[tuple[str, str | None], QueryFacts] = {}
        self._parsed: dict[str, dict[str, Any]] = {}
        #: Shapes seen more than once, the last one that fitted first.
        self._templates: list[Template] = []

    def knowing(self, dataset_ids: frozenset[str]) -> SqlReader:
        """The same reader, with everything it has parsed, over other ids."""
        if dataset_ids == self._ids:
            return self
        other = SqlReader(dataset_ids)
        other._kept, other._seen, other._parsed = self._kept, self._seen, self._parsed
        return other

    def facts(self, text: str, dialect: str | None = None) -> QueryFacts:
        """The facts of one text."""
        if len(text) > MOST_CHARACTERS:
            return QueryFacts(error=f"it is {len(text):,} characters long", line=1)
        for place, template in enumerate(self._templates):
            facts = template.facts_of(text, self._ids) if template.dialect == dialect else None
            if facts is not None:
                if place:
                    self._templates.insert(0, self._templates.pop(place))
                return facts
        shape, ids = self._shape(text)
        facts = self._seen.get((shape, dialect))
        if facts is None:
            facts = self._seen[shape, dialect] = self._looked_up(shape, dialect)
        elif ids:
            self._templates.insert(0, Template.of(shape, dialect, facts))
            del self._templates[_MOST_TEMPLATES:]
        return _with_ids(facts, ids) if ids else facts

    def _looked_up(self, shape: str, dialect: str | None) -> QueryFacts:
        key = text_hash(shape, dialect)
        kept = self._kept.get(key)
        if kept is not None:
            return _from_plain(json.loads(kept))
        facts = parse(shape, dialect)
        self._parsed[key] = facts._asdict()
        return facts

    def take_parsed(self) -> dict[str, dict[str, Any]]:
        """What was parsed anew since last asked, by hash: worth keeping for the next process."""
        parsed = dict(self._parsed)
        self._parsed.clear()
        return parsed

    def _shape(self, text: str) -> tuple[str, dict[str, str]]:
        """The text with every known id replaced by a placeholder, and the way back."""
        words = text.translate(_SPACES).split()
        # `orders.id` is a column of the dataset `orders`.
        dotted = [word for word in words if "." in word and word not in self._ids]
        heads = {word.rpartition(".")[0] for word in dotted} & self._ids if dotted else set()
        found = self._ids.intersection(words) | heads
        if not found:
            return text, {}
        in_order = sorted(found, key=text.index) if len(found) > 1 else found
        marks = {word: f"{_MARK}{place}_" for place, word in enumerate(in_order)}
        there = {mark: word for word, mark in marks.items()}
        all_marks = "".join(there)
        if not heads and all(
            word not in all_marks and _stands_alone(word, text, words) for word in found
        ):
            for word, mark in marks.items():
                text = text.replace(word, mark)
            return text, there
        return _replaced(text, marks, dotted, heads), there


#: Everything that cannot be part of a name, as a space.
_SPACES = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in "_$.")}


def _stands_alone(word: str, text: str, words: list[str]) -> bool:
    """The word is never a part of another one, nor the name of a function."""
    return text.count(word) == words.count(word) and not (f"{word}(" in text or f"{word} (" in text)


def _replaced(text: str, marks: dict[str, str], dotted: list[str], heads: set[str]) -> str:
    """The text with marks for names, looked at word by word."""
    for word in dotted:
        head, _, rest = word.rpartition(".")
        if head in heads:
            marks[word] = f"{marks[head]}.{rest}"
    parts = _WORD.split(text)
    parts[1::2] = [
        # A dataset may be called like a function: `count(*) FROM count`.
        word if word not in marks or after.lstrip()[:1] == "(" else marks[word]
        for word, after in zip(parts[1::2], parts[2::2], strict=True)
    ]
    return "".join(parts)


def text_hash(text: str, dialect: str | None) -> str:
    said = f"{_FACTS_VERSION}\0{dialect or 'spark'}\0{text}"
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _with_ids(facts: QueryFacts, ids: Mapping[str, str]) -> QueryFacts:
    def back(text: str) -> str:
        if _MARK not in text:
            return text
        return ids.get(text) or _PLACEHOLDER.sub(lambda match: ids[match[0]], text)

    return QueryFacts(
        error=facts.error and back(facts.error),
        line=facts.line,
        reads=tuple([back(name) for name in facts.reads]),
        writes=facts.writes and back(facts.writes),
        aggregates=facts.aggregates,
        windows=facts.windows,
        volatile=facts.volatile,
        columns=facts.columns and tuple([back(name) for name in facts.columns]),
    )


def _from_plain(kept: Mapping[str, Any]) -> QueryFacts:
    said: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in kept.items()}
    return QueryFacts(**said)
