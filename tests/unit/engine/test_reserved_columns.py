"""Names that tables of the lake cannot have."""

from __future__ import annotations

import pytest
from pyspark.sql.types import ArrayType, DataType, IntegerType, MapType, StringType, StructType

from goldsmith.engine.shape.reserved_columns import NamelessColumn, refuse_ambiguous


def struct(name: str, type_: DataType) -> StructType:
    return StructType().add(name, type_)


@pytest.mark.parametrize("within", ["", "s.a.element", "m.value"])
def test_a_column_without_a_name_is_refused(within: str) -> None:
    def rows(name: str) -> StructType:
        inner = struct(name, IntegerType())
        return {
            "": inner,
            "s.a.element": struct("s", struct("a", ArrayType(inner))),
            "m.value": struct("m", MapType(StringType(), inner)),
        }[within]

    refuse_ambiguous(rows("x"), "orders")
    with pytest.raises(NamelessColumn) as refused:
        refuse_ambiguous(rows(""), "orders")
    assert refused.value.within == within
