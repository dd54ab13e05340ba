"""Read the SQL of many stages, and parse each shape of SQL only once, across processes.

Parsing takes a thousand times as long as planning a stage, so facts are stored by the hash of the
text. A thousand pipelines made from one template differ only in dataset ids, so a shape is the text
with placeholders for dataset ids.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from goldsmith.planning.query import QueryFacts, parse

#: Longer texts are refused: a parser would take minutes.
MOST_CHARACTERS = 1_000_000
#: Part of every hash: raise it when the meaning of a fact changes.
_FACTS_VERSION = "5"
_NAME = re.compile(r"([\w$.]+)", re.ASCII)
_MARK = "goldsmith_dataset_"
_PLACEHOLDER = re.compile(rf"{_MARK}\d+_")
#: With more, trying all templates on a text that fits none would cost more than they save.
_MOST_TEMPLATES = 8


class Template(NamedTuple):
    """A shape as a regular expression, to recognise further texts of the shape quickly.

    A text that matches has known dataset ids where the shape has placeholders, and the same text
    elsewhere, which held no dataset id when the shape was made.
    """

    pattern: re.Pattern[str]
    marks: tuple[str, ...]
    dialect: str | None
    facts: QueryFacts
    #: Among the facts only `reads` holds ids.
    only_reads: bool

    @classmethod
    def of(cls, shape: str, dialect: str | None, facts: QueryFacts) -> Template:
        pieces = _PLACEHOLDER.split(shape)
        parts = [re.escape(pieces[0])]
        groups: dict[str, int] = {}
        for mark, piece in zip(_PLACEHOLDER.findall(shape), pieces[1:], strict=True):
            known = groups.get(mark)
            groups.setdefault(mark, len(groups) + 1)
            parts.append(r"([\w$.]+)" if known is None else rf"\{known}(?![\w$])")
            parts.append(re.escape(piece))
        only_reads = _MARK not in repr(facts._replace(reads=()))
        pattern = re.compile("".join(parts), re.ASCII)
        return cls(pattern, tuple(groups), dialect, facts, only_reads)

    def facts_of(self, text: str, known: frozenset[str]) -> QueryFacts | None:
        """The facts of a text if it has this shape; else None."""
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
        # Not `_replace`: it takes three times as long, and most texts take this path.
        return QueryFacts(facts.error, facts.line, reads, *facts[3:])


class SqlReader:
    """Finds the facts of SQL texts, given the known dataset ids; parses each shape once."""

    def __init__(self, dataset_ids: frozenset[str], kept: Mapping[str, str] | None = None) -> None:
        self._ids = dataset_ids
        #: Facts by hash, as JSON text, from earlier processes.
        self._kept = dict(kept or {})
        self._seen: dict[tuple[str, str | None], QueryFacts] = {}
        self._parsed: dict[str, dict[str, Any]] = {}
        #: Shapes seen more than once, most recently matched first.
        self._templates: list[Template] = []

    def knowing(self, dataset_ids: frozenset[str]) -> SqlReader:
        """A reader for other dataset ids that shares everything parsed so far."""
        if dataset_ids == self._ids:
            return self
        other = SqlReader(dataset_ids)
        other._kept, other._seen, other._parsed = self._kept, self._seen, self._parsed
        return other

    def facts(self, text: str, dialect: str | None = None) -> QueryFacts:
        """The facts of one text."""
        if len(text) > MOST_CHARACTERS:
            return QueryFacts(error=f"it is {len(text):,} characters long", line=1)
        for index, template in enumerate(self._templates):
            facts = template.facts_of(text, self._ids) if template.dialect == dialect else None
            if facts is not None:
                if index:
                    self._templates.insert(0, self._templates.pop(index))
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
        """The facts parsed since the last call, by hash, to store for the next process."""
        parsed = dict(self._parsed)
        self._parsed.clear()
        return parsed

    def _shape(self, text: str) -> tuple[str, dict[str, str]]:
        """The text with placeholders for known ids, and the id of each placeholder."""
        names = text.translate(_SPACES).split()
        # `orders.id` is a column of the dataset `orders`.
        dotted = [name for name in names if "." in name and name not in self._ids]
        heads = {name.rpartition(".")[0] for name in dotted} & self._ids if dotted else set()
        found = {name for name in self._ids.intersection(names) | heads if not _is_sql_word(name)}
        heads &= found
        if not found:
            return text, {}
        in_order = sorted(found, key=text.index) if len(found) > 1 else found
        marks = {name: f"{_MARK}{number}_" for number, name in enumerate(in_order)}
        there = {mark: name for name, mark in marks.items()}
        all_marks = "".join(there)
        if not heads and all(
            name not in all_marks and _stands_alone(name, text, names) for name in found
        ):
            for name, mark in marks.items():
                text = text.replace(name, mark)
            return text, there
        return _replaced(text, marks, dotted, heads), there


#: Words of SQL dialects with an underscore.
_WITH_UNDERSCORE = re.compile(
    r"_\w+|(current|session|system|utc|time|timestamp|epoch|sql|binary)_\w+|\w+_iso|iso_week"
    r"|auto_increment|connect_by_root|dbms_random|match_condition|match_recognize|partitioned_by"
    r"|pivot_wider|regexp_like|st_geometry|straight_join",
    re.ASCII | re.IGNORECASE,
)


def _is_sql_word(name: str) -> bool:
    """The dataset id may be a word of SQL, like `date` or `left`: a placeholder would change the
    meaning of the text."""
    return name.isalnum() or _WITH_UNDERSCORE.fullmatch(name) is not None


#: Maps every ASCII character that cannot be part of a name to a space.
_SPACES = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in "_$.")}


def _stands_alone(name: str, text: str, names: list[str]) -> bool:
    """The name is never part of another name, nor the name of a function."""
    return text.count(name) == names.count(name) and not (f"{name}(" in text or f"{name} (" in text)


def _replaced(text: str, marks: dict[str, str], dotted: list[str], heads: set[str]) -> str:
    """Replace names by placeholders, name by name."""
    for name in dotted:
        head, _, rest = name.rpartition(".")
        if head in heads:
            marks[name] = f"{marks[head]}.{rest}"
    parts = _NAME.split(text)
    parts[1::2] = [
        # A dataset may be called like a function: `count(*) FROM count`.
        name if name not in marks or after.lstrip()[:1] == "(" else marks[name]
        for name, after in zip(parts[1::2], parts[2::2], strict=True)
    ]
    return "".join(parts)


def text_hash(text: str, dialect: str | None) -> str:
    hashed = f"{_FACTS_VERSION}\0{dialect or 'spark'}\0{text}"
    return hashlib.blake2b(hashed.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


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
        overwrites=facts.overwrites,
        aggregates=facts.aggregates,
        windows=facts.windows,
        volatile=facts.volatile,
        columns=facts.columns and tuple([back(name) for name in facts.columns]),
        whole=tuple([back(name) for name in facts.whole]),
        whole_because=facts.whole_because,
        beside=tuple([back(name) for name in facts.beside]),
        hint=facts.hint and back(facts.hint),
    )


def _from_plain(kept: Mapping[str, Any]) -> QueryFacts:
    values: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in kept.items()}
    return QueryFacts(**values)
