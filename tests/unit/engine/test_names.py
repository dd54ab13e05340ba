from __future__ import annotations

from pyspark.sql.types import ArrayType, IntegerType, MapType, StringType, StructField, StructType

from goldsmith.engine.names import type_name


def test_the_names_of_fields_are_quoted_at_every_depth() -> None:
    inner = StructType([StructField("a.b `c`", IntegerType())])
    whole = StructType([StructField("x y", MapType(StringType(), ArrayType(inner)))])
    assert type_name(whole) == "STRUCT<`x y`: MAP<string, ARRAY<STRUCT<`a.b ``c```: int>>>>"
