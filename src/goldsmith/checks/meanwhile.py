"""Run two Spark jobs at once: while the driver plans one, the tasks of the other use the cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_T = TypeVar("_T")


@contextmanager
def meanwhile(rows: DataFrame, do: Callable[[], _T]) -> Iterator[Callable[[], _T]]:
    """Run `do` in a thread meanwhile; yields a function that waits for its result.

    The thread inherits the job tags of this one, so that the jobs of both are cancelled together.
    """
    from pyspark import inheritable_thread_target

    spark = rows.sparkSession
    inherits: Any = inheritable_thread_target(spark)
    if inherits is spark:  # Python threads have no JVM threads of their own: PYSPARK_PIN_THREAD
        done = do()
        yield lambda: done
        return
    with ThreadPoolExecutor(1, thread_name_prefix="checks") as pool:
        later = pool.submit(inherits(do))
        yield later.result
