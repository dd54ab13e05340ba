"""Trees computed by Arrow, batch by batch, in the tasks of Spark.

Conditions have three values here as they have in SQL. NaN is equal to itself and greater than any
number, as Spark has it. This file travels to the workers as it is: it imports what they have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: What is said of an aggregate where Arrow might see a value otherwise than Spark does.
UNSURE: Mapping[str, bool] = {"unsure": True}
_NEVER = ("literal", "boolean", False)
_BLANK, _TILDE = 0x20, 0x7E
#: So many patterns a column is asked for are worth it to tell its different values first, and so
#: large a share of all values the different ones may be.
_SEVERAL_PATTERNS = 3
_MOST_DIFFERENT = 0.6


class Unsure(Exception):
    """A value is met of which Arrow and Spark may think differently."""


class Batch:
    """Rows of a file, and what was computed of them so far."""

    def __init__(self, rows: pa.RecordBatch, repeating: set[Any] | None = None) -> None:
        self.rows = rows
        #: Texts that are asked for often, and seem to repeat.
        self._repeating = set() if repeating is None else repeating
        self._known: dict[Any, Any] = {}
        self._is_plain: dict[Any, bool] = {}
        self._different: dict[Any, pa.DictionaryArray] = {}

    def value(self, tree: Any) -> Any:
        """An array of the tree's values, or a scalar where all rows have the same."""
        found = self._known.get(tree)
        if found is None:
            name, *args = tree
            found = self._known[tree] = _FUNCTIONS[name](self, *args)
        return found

    def count(self, tree: Any) -> int:
        """For how many rows a condition is true."""
        found = self.value(tree)
        if isinstance(found, pa.Scalar):
            return self.rows.num_rows if found.as_py() else 0
        return int(found.true_count)

    def array(self, tree: Any) -> pa.Array:
        found = self.value(tree)
        return pa.repeat(found, self.rows.num_rows) if isinstance(found, pa.Scalar) else found

    def of_texts(self, tree: Any, compute: Callable[[pa.Array], pa.Array]) -> pa.Array:
        """Something of each text; of one that occurs often, computed once."""
        if tree in self._repeating and tree not in self._different:
            encoded = self.array(tree).dictionary_encode()
            if len(encoded.dictionary) > _MOST_DIFFERENT * max(len(encoded), 1):
                self._repeating.discard(tree)  # nor will they in the rows to come
            else:
                self._different[tree] = encoded
        if tree not in self._different:
            return compute(self.value(tree))
        different = self._different[tree]
        return compute(different.dictionary).take(different.indices)

    def is_plain(self, tree: Any) -> bool:
        """The texts are of printable ASCII alone."""
        if tree not in self._is_plain:
            self._is_plain[tree] = _is_printable(self.array(tree))
        return self._is_plain[tree]


def columns_of(tree: Any) -> Iterator[tuple[str, str]]:
    """The types and names of all columns in a tree, or in several."""
    if isinstance(tree, list | tuple):
        if tree and tree[0] == "column":
            yield tree[1], tree[2]
        else:
            for part in _under(tree):
                yield from columns_of(part)


def without_nulls(tree: Any, full: Collection[str]) -> Any:
    """The tree as it is where some columns hold a value in every row."""
    if not isinstance(tree, tuple) or not tree or tree[0] in ("column", "literal"):
        return tree
    if tree[0] == "is_null" and tree[1][0] == "column" and tree[1][2] in full:
        return _NEVER
    if tree[0] == "one_of":  # the values of a list are no trees, whatever they look like
        return (tree[0], without_nulls(tree[1], full), *tree[2:])
    return tuple(without_nulls(part, full) for part in tree)


def _under(tree: Any) -> Any:
    """What a tree is applied to; the values of a list are no trees, whatever they look like."""
    return tree[1:2] if tree and tree[0] == "one_of" else tree


def _is_printable(texts: pa.Array) -> bool:
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return True
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    ends = np.frombuffer(offsets, width, len(texts) + 1, texts.offset * np.dtype(width).itemsize)
    held = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]
    return not held.size or (held.min() >= _BLANK and held.max() <= _TILDE)


def _column(batch: Batch, kind: str, name: str) -> Any:
    del kind
    return batch.rows.column(name)


def _literal(batch: Batch, kind: str, value: Any) -> Any:
    del batch
    return pa.scalar(value, arrow_type(kind))


def arrow_type(kind: str) -> pa.DataType:
    """Arrow's type for one of Spark's."""
    if kind.startswith("decimal("):
        precision, scale = map(int, kind[8:-1].split(","))
        return pa.decimal128(precision, scale)
    return _TYPES[kind]


_TYPES: Mapping[str, pa.DataType] = {
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


def _is_null(batch: Batch, tree: Any) -> Any:
    found = batch.value(tree)
    if isinstance(found, pa.Array) and not found.null_count:
        return pa.scalar(False)
    return pc.is_null(found)


def _not(batch: Batch, tree: Any) -> Any:
    return pc.invert(batch.value(tree))


def _and(batch: Batch, one: Any, other: Any) -> Any:
    first = batch.value(one)
    if isinstance(first, pa.Scalar) and first.is_valid:
        return batch.value(other) if first.as_py() else first
    return pc.and_kleene(first, batch.value(other))


def _or(batch: Batch, one: Any, other: Any) -> Any:
    first = batch.value(one)
    if isinstance(first, pa.Scalar) and first.is_valid:
        return first if first.as_py() else batch.value(other)
    return pc.or_kleene(first, batch.value(other))


def _first_of(batch: Batch, *trees: Any) -> Any:
    first = batch.value(trees[0])
    if isinstance(first, pa.Array) and not first.null_count:
        return first
    return pc.coalesce(first, *(batch.value(tree) for tree in trees[1:]))


def _less(batch: Batch, one: Any, other: Any) -> Any:
    left, right = batch.value(one), batch.value(other)
    found = pc.less(left, right)
    if not pa.types.is_floating(left.type) or _is_number(right):
        return found
    return pc.or_kleene(found, pc.and_kleene(pc.is_nan(right), pc.invert(pc.is_nan(left))))


def _at_most(batch: Batch, one: Any, other: Any) -> Any:
    left, right = batch.value(one), batch.value(other)
    found = pc.less_equal(left, right)
    if not pa.types.is_floating(left.type) or _is_number(right):
        return found
    # NaN is at least anything; where the left one is NULL nothing is known.
    return pc.or_kleene(found, pc.and_kleene(pc.is_nan(right), pc.is_valid(left)))


def _equal(batch: Batch, one: Any, other: Any) -> Any:
    left, right = batch.value(one), batch.value(other)
    found = pc.equal(left, right)
    if not pa.types.is_floating(left.type) or _is_number(right) or _is_number(left):
        return found
    return pc.or_kleene(found, pc.and_kleene(pc.is_nan(left), pc.is_nan(right)))


def _is_number(value: Any) -> bool:
    """Not an array and not NaN."""
    return isinstance(value, pa.Scalar) and value.is_valid and value.as_py() == value.as_py()


def _one_of(batch: Batch, tree: Any, listed: tuple[Any, ...]) -> Any:
    found = batch.array(tree)
    inside = pc.is_in(found, value_set=pa.array(listed, found.type))
    return inside if not found.null_count else pc.if_else(pc.is_valid(found), inside, None)


def _matches(batch: Batch, tree: Any, pattern: str) -> Any:
    if not batch.is_plain(tree):
        raise Unsure
    return batch.of_texts(tree, lambda texts: pc.match_substring_regex(texts, pattern))


def _of_text(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda batch, tree, text: function(batch.value(tree), text)


def _when(batch: Batch, condition: Any, value: Any, *otherwise: Any) -> Any:
    holds, there = batch.value(condition), batch.value(value)
    other = batch.value(otherwise[0]) if otherwise else pa.scalar(None, there.type)
    return pc.if_else(pc.fill_null(holds, False), there, other)


def _length(batch: Batch, tree: Any) -> Any:
    return pc.utf8_length(batch.value(tree))


def _later(batch: Batch, tree: Any, by: Any) -> Any:
    return pc.add_checked(batch.value(tree), pa.scalar(by, pa.duration("us")))


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "column": _column,
    "literal": _literal,
    "is_null": _is_null,
    "not": _not,
    "and": _and,
    "or": _or,
    "first_of": _first_of,
    "less": _less,
    "at_most": _at_most,
    "equal": _equal,
    "one_of": _one_of,
    "matches": _matches,
    "starts_with": _of_text(pc.starts_with),
    "ends_with": _of_text(pc.ends_with),
    "contains": _of_text(pc.match_substring),
    "when": _when,
    "length": _length,
    "later": _later,
}


def measure(batches: Iterable[pa.RecordBatch], asked: Sequence[Any]) -> list[Any]:
    """What the aggregates are over some rows, each as `merged` takes it."""
    found: list[Any] = [None] * len(asked)
    repeating = often_matched(asked)
    for rows in batches:
        batch = Batch(rows, repeating)
        for place, aggregate in enumerate(asked):
            found[place] = merged(aggregate, found[place], _part(batch, aggregate))
    return found


def often_matched(asked: Iterable[Any]) -> set[Any]:
    """What is compared with several patterns."""
    patterns: dict[Any, set[str]] = {}
    for text, pattern in _matched(asked):
        patterns.setdefault(text, set()).add(pattern)
    return {text for text, several in patterns.items() if len(several) >= _SEVERAL_PATTERNS}


def _matched(tree: Any) -> Iterator[tuple[Any, str]]:
    if isinstance(tree, list | tuple):
        if tree and tree[0] == "matches":
            yield tree[1], tree[2]
        else:
            for part in _under(tree):
                yield from _matched(part)


def _part(batch: Batch, aggregate: Any) -> Any:
    name, tree, _ = aggregate
    try:
        if name == "count":
            return batch.count(tree)
        values = batch.array(tree)
        if name == "mean":
            number = len(values) - values.null_count
            return (
                [pc.sum(values.cast(pa.float64(), safe=False)).as_py() or 0.0, number]
                if number
                else None
            )
        return _extreme(values, name)
    except Unsure:
        return UNSURE


def _extreme(values: pa.Array, name: str) -> Any:
    if pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
        raise Unsure
    found = pc.min_max(values)[name]
    if pa.types.is_timestamp(found.type):
        return found.value
    return found.cast(pa.int32()).as_py() if pa.types.is_date(found.type) else found.as_py()


def merged(aggregate: Any, one: Any, other: Any) -> Any:
    """An aggregate of two parts; None is one of no values."""
    if one == UNSURE or other == UNSURE:
        return UNSURE
    if one is None or other is None:
        return other if one is None else one
    match aggregate[0]:
        case "count":
            return one + other
        case "mean":
            return [one[0] + other[0], one[1] + other[1]]
        case "min":
            return min(one, other)
    return max(one, other)
