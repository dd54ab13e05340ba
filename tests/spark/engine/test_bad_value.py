"""One bad value that ends a stage: the message says which column and which row."""

from __future__ import annotations

import pytest

from spark.engine.conftest import Bench
from spark.engine.test_stages import BRONZE

AS_TEXT = BRONZE.replace("id BIGINT, amount BIGINT", "id BIGINT, amount STRING, note STRING")
CAST = """
stages:
  - pipeline_id: "@"
    stage_order: 1
    source_id: "raw_@"
    target_id: "bronze_@"
    keys: [id]
"""


@pytest.mark.parametrize(
    "how",
    [
        pytest.param("    options: {cast: {amount: int}}\n", id="a cast of the options"),
        pytest.param(
            "    transform_sql: SELECT id, CAST(amount AS INT) AS amount FROM raw_@\n", id="SQL"
        ),
    ],
)
def test_a_bad_value_says_its_column_file_and_key(bench: Bench, how: str) -> None:
    bench.apply(AS_TEXT)
    bench.apply(CAST + how)
    bench.bring("a.jsonl", {"id": 1, "amount": "10"})
    bench.bring("b c.jsonl", {"id": 2, "amount": "20"}, {"id": 7, "amount": "many"})
    failed = bench.run()[1]
    assert failed.error_code == "ValueDoesNotFit"
    expected = (
        f"It is in column amount of raw_{bench.tag} in s3://raw/{bench.tag}/b c.jsonl (id = 7)."
    )
    assert expected in str(failed.error_message)
