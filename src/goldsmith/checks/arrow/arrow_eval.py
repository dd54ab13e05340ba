"""Evaluate expression trees with Arrow, batch by batch, inside Spark tasks.

Conditions are three-valued as in SQL. As in Spark, NaN equals itself and is greater than any
number. This module is pickled by value to the Python workers: it imports only what they have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: The result of an aggregate over values that Arrow may treat differently from Spark.
UNSURE: Mapping[str, bool] = {"unsure": True}
_NEVER = ("literal", "boolean", False)
_BLANK, _TILDE = 0x20, 0x7E
#: Dictionary-encode texts that are matched against so many patterns, unless the distinct texts
#: are a larger share of all texts than this.
_SEVERAL_PATTERNS = 3
_MOST_DIFFERENT = 0.6


class NotComputable(Exception):
    """Arrow and Spark may treat one of the values differently."""


class Batch:
    """A batch of rows of a file, and the values computed from it so far."""

    def __init__(self, rows: pa.RecordBatch, repeating: set[Any] | None = None) -> None:
        self.rows = rows
        #: Trees of texts that are matched often and seem to repeat.
        self._repeating = set() if repeating is None else repeating
        self._known: dict[Any, Any] = {}
        self._is_plain: dict[Any, bool] = {}
        self._different: dict[Any, pa.DictionaryArray] = {}

    def value(self, tree: Any) -> Any:
        """The tree's values as an array, or as a scalar where all rows have the same value."""
        found = self._known.get(tree)
        if found is None:
            name, *args = tree
            found = self._known[tree] = _FUNCTIONS[name](self, *args)
        return found

    def count(self, tree: Any) -> int:
        """The number of rows for which a condition is true."""
        found = self.value(tree)
        if isinstance(found, pa.Scalar):
            return self.rows.num_rows if found.as_py() else 0
        return int(found.true_count)

    def array(self, tree: Any) -> pa.Array:
        found = self.value(tree)
        return pa.repeat(found, self.rows.num_rows) if isinstance(found, pa.Scalar) else found

    def of_texts(self, tree: Any, compute: Callable[[pa.Array], pa.Array]) -> pa.Array:
        """Compute a value for each text; once per distinct text if texts repeat."""
        if tree in self._repeating and tree not in self._different:
            encoded = self.array(tree).dictionary_encode()
            if len(encoded.dictionary) > _MOST_DIFFERENT * max(len(encoded), 1):
                self._repeating.discard(tree)  # expect no repeats in later batches either
            else:
                self._different[tree] = encoded
        if tree not in self._different:
            return compute(self.value(tree))
        different = self._different[tree]
        return compute(different.dictionary).take(different.indices)

    def is_plain(self, tree: Any) -> bool:
        """All texts are printable ASCII."""
        if tree not in self._is_plain:
            self._is_plain[tree] = _is_printable(self.array(tree))
        return self._is_plain[tree]


def columns_of(tree: Any) -> Iterator[tuple[str, str]]:
    """The types and names of all columns in a tree or in several trees."""
    if isinstance(tree, list | tuple):
        if tree and tree[0] == "column":
            yield tree[1], tree[2]
        else:
            for part in _under(tree):
                yield from columns_of(part)


def without_nulls(tree: Any, full: Collection[str]) -> Any:
    """Simplify a tree, given the columns that have no NULLs."""
    if not isinstance(tree, tuple) or not tree or tree[0] in ("column", "literal"):
        return tree
    if tree[0] == "is_null" and tree[1][0] == "column" and tree[1][2] in full:
        return _NEVER
    if tree[0] == "one_of":  # the listed values are no trees, even if they look like trees
        return (tree[0], without_nulls(tree[1], full), *tree[2:])
    return tuple(without_nulls(part, full) for part in tree)


def _under(tree: Any) -> Any:
    """The parts of a tree to descend into: all but the listed values of `one_of`."""
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
    """The Arrow type of a Spark type."""
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


def _and(batch: Batch, left_tree: Any, right_tree: Any) -> Any:
    first = batch.value(left_tree)
    if isinstance(first, pa.Scalar) and first.is_valid:
        return batch.value(right_tree) if first.as_py() else first
    return pc.and_kleene(first, batch.value(right_tree))


def _or(batch: Batch, left_tree: Any, right_tree: Any) -> Any:
    first = batch.value(left_tree)
    if isinstance(first, pa.Scalar) and first.is_valid:
        return first if first.as_py() else batch.value(right_tree)
    return pc.or_kleene(first, batch.value(right_tree))


def _first_of(batch: Batch, *trees: Any) -> Any:
    first = batch.value(trees[0])
    if isinstance(first, pa.Array) and not first.null_count:
        return first
    return pc.coalesce(first, *(batch.value(tree) for tree in trees[1:]))


def _less(batch: Batch, left_tree: Any, right_tree: Any) -> Any:
    left, right = batch.value(left_tree), batch.value(right_tree)
    found = pc.less(left, right)
    if not pa.types.is_floating(left.type) or _is_number(right):
        return found
    return pc.or_kleene(found, pc.and_kleene(pc.is_nan(right), pc.invert(pc.is_nan(left))))


def _at_most(batch: Batch, left_tree: Any, right_tree: Any) -> Any:
    left, right = batch.value(left_tree), batch.value(right_tree)
    found = pc.less_equal(left, right)
    if not pa.types.is_floating(left.type) or _is_number(right):
        return found
    # Anything is at most NaN; a NULL on the left stays NULL.
    return pc.or_kleene(found, pc.and_kleene(pc.is_nan(right), pc.is_valid(left)))


def _equal(batch: Batch, left_tree: Any, right_tree: Any) -> Any:
    left, right = batch.value(left_tree), batch.value(right_tree)
    found = pc.equal(left, right)
    if not pa.types.is_floating(left.type) or _is_number(right) or _is_number(left):
        return found
    return pc.or_kleene(found, pc.and_kleene(pc.is_nan(left), pc.is_nan(right)))


def _is_number(value: Any) -> bool:
    """A scalar that is neither NULL nor NaN."""
    return isinstance(value, pa.Scalar) and value.is_valid and value.as_py() == value.as_py()


def _one_of(batch: Batch, tree: Any, listed: tuple[Any, ...]) -> Any:
    found = batch.array(tree)
    inside = pc.is_in(found, value_set=pa.array(listed, found.type))
    return inside if not found.null_count else pc.if_else(pc.is_valid(found), inside, None)


def _matches(batch: Batch, tree: Any, pattern: str) -> Any:
    if not batch.is_plain(tree):
        raise NotComputable
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


def measure(batches: Iterable[pa.RecordBatch], aggregates: Sequence[Any]) -> list[Any]:
    """The partial aggregates over some rows, each in the form that `merged` takes."""
    found: list[Any] = [None] * len(aggregates)
    repeating = often_matched(aggregates)
    for rows in batches:
        batch = Batch(rows, repeating)
        for index, aggregate in enumerate(aggregates):
            found[index] = merged(aggregate, found[index], _part(batch, aggregate))
    return found


def often_matched(aggregates: Iterable[Any]) -> set[Any]:
    """The trees of texts that are matched against several patterns."""
    patterns: dict[Any, set[str]] = {}
    for text, pattern in _matched(aggregates):
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
    except NotComputable:
        return UNSURE


def _extreme(values: pa.Array, name: str) -> Any:
    if pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
        raise NotComputable
    found = pc.min_max(values)[name]
    if pa.types.is_timestamp(found.type):
        return found.value
    return found.cast(pa.int32()).as_py() if pa.types.is_date(found.type) else found.as_py()


def merged(aggregate: Any, left: Any, right: Any) -> Any:
    """Merge the partial aggregates of two parts; None means no values."""
    if left == UNSURE or right == UNSURE:
        return UNSURE
    if left is None or right is None:
        return right if left is None else left
    match aggregate[0]:
        case "count":
            return left + right
        case "mean":
            return [left[0] + right[0], left[1] + right[1]]
        case "min":
            return min(left, right)
    return max(left, right)
