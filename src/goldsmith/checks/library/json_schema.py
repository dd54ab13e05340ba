"""The column's text is JSON that is valid by a JSON Schema.

`schema` is the schema itself. A text that is not JSON is not valid; NULLs are skipped. Spark's
driver and Python workers need the library jsonschema: `pip install 'goldsmith[jsonschema]'`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.errors import BadCheck
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Counted, Extra
from goldsmith.credentials import library

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataset_check(says="{column} does not fit the JSON schema", cost=Cost.PASS)
def json_schema(column: Plain, schema: Mapping[str, object]) -> Extra:
    from pyspark.sql import functions as F

    validators: Any = library("jsonschema.validators", extra="jsonschema")
    try:
        validators.validator_for(schema).check_schema(schema)
    except library("jsonschema.exceptions", extra="jsonschema").SchemaError as error:
        problem = f"has a schema that is none: {error.message}"
        raise BadCheck(check="json_schema", problems=(problem,), usage="column, schema") from error
    schema_text = json.dumps(schema)

    def is_valid(text: str | None) -> bool | None:
        from jsonschema.validators import validator_for

        if text is None:
            return None
        wanted = json.loads(schema_text)
        try:
            return bool(validator_for(wanted)(wanted).is_valid(json.loads(text)))
        except ValueError:
            return False

    # A Python UDF cannot be part of a write's filter or observed metrics: it needs its own pass.
    def plan(rows: DataFrame) -> DataFrame:
        # A lambda, for Spark warns of type hints that it cannot turn into an Arrow function.
        valid = F.udf(lambda text: is_valid(text), "boolean")
        looked = rows.select(column.value.cast("string").alias("_text")).select(
            valid("_text").alias("_valid")
        )
        return looked.agg(
            F.count(F.when(~F.col("_valid"), 1)).alias("broken"), F.count("_valid").alias("of")
        )

    return Extra(plan=plan, judge=lambda measured: Counted(**measured))
