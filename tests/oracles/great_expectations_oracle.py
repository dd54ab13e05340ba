"""Great Expectations as a program: cases on standard input, its verdicts on standard output.

Runs in an environment of its own, without Goldsmith. A case is a line of `checks try --jsonl`;
the first argument chooses its engine: spark or pandas.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from itertools import count
from typing import Any

import great_expectations as gx
import great_expectations.expectations as expectations
from great_expectations.core.expectation_suite import ExpectationSuite

NUMBERS = count()


def main(engine: str) -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}  # type: ignore[assignment]
    batches = spark_batches(context) if engine == "spark" else pandas_batches(context)
    for line in sys.stdin:
        case = json.loads(line)
        batch = batches(case)
        answer = {"id": case["id"], "verdicts": verdicts(batch, case["checks"])}
        print(json.dumps(answer, default=str), flush=True)


def spark_batches(context: Any) -> Any:
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.default.parallelism", "1")
        # To compile code for a handful of rows takes longer than to interpret it.
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    asset = context.data_sources.add_spark("spark").add_dataframe_asset("rows")
    definition = asset.add_batch_definition_whole_dataframe("all")

    def batch(case: Any) -> Any:
        schema = case["schema"]
        names = spark.createDataFrame([], schema).columns
        texts = ", ".join(f"`{name}` STRING" for name in names)
        rows = [tuple(text(row.get(name)) for name in names) for row in case["rows"]]
        as_text = spark.createDataFrame(rows, texts)
        typed = spark.createDataFrame([], schema).schema
        frame = as_text.select(
            *(as_text[f"`{f.name}`"].cast(f.dataType).alias(f.name) for f in typed)
        )
        return definition.get_batch(batch_parameters={"dataframe": frame})

    return batch


def text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def pandas_batches(context: Any) -> Any:
    import pandas

    asset = context.data_sources.add_pandas("pandas").add_dataframe_asset("rows")
    definition = asset.add_batch_definition_whole_dataframe("all")

    def batch(case: Any) -> Any:
        columns = [part.split()[0].strip("`") for part in case["schema"].split(", ")]
        frame = pandas.DataFrame(
            [[row.get(name) for name in columns] for row in case["rows"]], columns=columns
        )
        return definition.get_batch(batch_parameters={"dataframe": frame})

    return batch


def verdicts(batch: Any, checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All in one go; where one of them raises, it and its neighbours are asked one by one."""
    made = [expectation_of(check, index) for index, check in enumerate(checks)]
    sound = {
        index: expectation
        for index, expectation in enumerate(made)
        if not isinstance(expectation, dict)
    }
    together = ExpectationSuite(name=f"suite_{next(NUMBERS)}", expectations=list(sound.values()))
    answers: dict[int, dict[str, Any]] = {}
    # They come in an order of their own.
    for result in batch.validate(together, result_format="SUMMARY").results:
        index = result.expectation_config.meta["place"]
        answers[index] = verdict(result)
        if "raised" in answers[index]:
            answers[index] = verdict(batch.validate(sound[index], result_format="SUMMARY"))
    return [
        expectation if isinstance(expectation, dict) else answers[index]
        for index, expectation in enumerate(made)
    ]


def expectation_of(check: dict[str, Any], index: int) -> Any:
    """The expectation, or why there is none."""
    settings = {name: value for name, value in check.items() if name != "type"}
    kind = "".join(part.capitalize() for part in check["type"].split("_"))
    try:
        return getattr(expectations, kind.replace("Ab", "AB"))(
            **{**settings, "meta": {"place": index}}
        )
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"[:300]}


def verdict(result: Any) -> dict[str, Any]:
    described = result.to_json_dict()
    raised = described.get("exception_info") or {}
    if raised.get("raised_exception") or any(
        isinstance(value, dict) and value.get("raised_exception") for value in raised.values()
    ):
        return {"raised": str(raised)[:600]}
    found = described.get("result", {})
    return {
        "passed": bool(described["success"]),
        "broken": found.get("unexpected_count"),
        "observed": found.get("observed_value"),
        "of": found.get("element_count"),
    }


if __name__ == "__main__":
    main(sys.argv[1])
