"""Cases that come a line each, answered a line each: tried side by side, told in their order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

from goldsmith.checks.trying import answer, no_answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Spark plans a small case for longer than it runs: several at once keep it busy.
_SIDE_BY_SIDE = 4
_AHEAD = 64

Answer = dict[str, Any]


def answers(spark: SparkSession, lines: Iterable[bytes]) -> Iterator[Answer]:
    """An answer for each line, given as soon as it and those before it are known.

    Lines are read beside: who writes one and waits for its answer before the next gets it.
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
        while (one := waiting.get()) is not None:
            yield one.result()


def _answer(spark: SparkSession, line: bytes) -> Answer:
    try:
        said = json.loads(line)
    except ValueError as error:
        return no_answer(None, f"BadRows: The line is no JSON: {error}")
    try:
        return answer(spark, said)
    except Exception as error:  # one bad case must not spoil the others
        cause = str(error).strip().splitlines() or [""]
        return no_answer(said, f"{type(error).__name__}: {cause[0]}")
