"""Try cases given as JSON lines: evaluate several at once, answer in the order of the lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

from goldsmith.checks.try_checks import answer, no_answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Cases evaluated at once: Spark plans a small case for longer than it runs it.
_SIDE_BY_SIDE = 4
_AHEAD = 64

Answer = dict[str, Any]


def answers(spark: SparkSession, lines: Iterable[bytes]) -> Iterator[Answer]:
    """Yield an answer for each line as soon as it and all before it are known.

    A thread reads the lines, so a caller may wait for one answer before it writes the next line.
    """
    waiting: Queue[Future[Answer] | None] = Queue(_AHEAD)
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:

        def read() -> None:
            try:
                for line in lines:
                    if line.strip():
                        waiting.put(pool.submit(_answer, spark, line))
            finally:
                waiting.put(None)

        Thread(target=read, daemon=True).start()
        while (future := waiting.get()) is not None:
            yield future.result()


def _answer(spark: SparkSession, line: bytes) -> Answer:
    try:
        case = json.loads(line)
    except ValueError as error:
        return no_answer(None, f"BadRows: The line is no JSON: {error}")
    try:
        return answer(spark, case)
    except Exception as error:  # one bad case must not stop the others
        cause = str(error).strip().splitlines() or [""]
        return no_answer(case, f"{type(error).__name__}: {cause[0]}")
