"""Hash keys with numpy: equal keys have equal hashes, other keys hardly ever.

This module is pickled by value to the Python workers: it imports only what they have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Odd numbers without a pattern: the constants of the finaliser of MurmurHash3, and a golden ratio.
_MIX = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))
_STEP = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(33)
_NULL = np.uint64(0x6A09E667F3BCC909)


def hashes(columns: list[pa.Array]) -> Any:
    """One 64-bit hash for each row; a NULL is a value like others."""
    found = np.full(len(columns[0]), _NULL)
    for column in columns:
        own = _of(column)
        if column.null_count:
            own[np.asarray(column.is_null())] = _NULL
        found = _mixed(found * _STEP + own)
    return found


def _mixed(found: Any) -> Any:
    for factor in _MIX:
        found ^= found >> _HALF
        found *= factor
    found ^= found >> _HALF
    return found


def _of(column: pa.Array) -> Any:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _of_bytes(column)
    if pa.types.is_decimal(kind):
        chunks = np.frombuffer(column.buffers()[1], np.uint64)
        chunks = chunks[2 * column.offset : 2 * (column.offset + len(column))]
        return _mixed(chunks[0::2] + _STEP) + chunks[1::2]
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif pa.types.is_date(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        column = column.cast(pa.int64())
    if pa.types.is_floating(column.type):
        # -0.0 becomes 0.0, and every NaN the same NaN.
        numbers = pc.fill_null(column.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
        numbers = np.where(np.isnan(numbers), np.nan, numbers + 0.0)
        return numbers.view(np.uint64).copy()
    whole = pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    return whole.view(np.uint64).copy()


def _of_bytes(column: pa.Array) -> Any:
    """Hash eight bytes at a time, of all values at once."""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int32, len(column) + 1, column.offset * 4).astype(np.int64)
    starts, lengths = ends[:-1], np.diff(ends)
    found = lengths.astype(np.uint64)
    padded = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    padded = np.concatenate([padded, np.zeros(8, np.uint8)])
    # Overlapping 8-byte chunks, one from each byte on.
    chunks = np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))
    rows = np.arange(len(column)) if len(column) else np.zeros(0, np.int64)
    at = 0
    while True:
        rows = rows[lengths[rows] > at]
        if not len(rows):
            return found
        chunk = chunks[starts[rows] + at]
        left = np.minimum(lengths[rows] - at, 8).astype(np.uint64)
        # Mask the bytes after the end of a value: they belong to the next one.
        chunk &= np.uint64(0xFFFFFFFFFFFFFFFF) >> ((np.uint64(8) - left) * np.uint64(8))
        found[rows] = _mixed(found[rows] * _STEP + chunk)
        at += 8
