"""What the jobs of a stage have read is known from beside."""

from __future__ import annotations

from typing import Any

from goldsmith.engine.run import ExecutionOptions
from goldsmith.engine.session import progress
from goldsmith.planning.run_options import RunOptions
from goldsmith.worker import loop
from spark.engine.conftest import Bench
from spark.engine.test_stages import BRONZE


def test_the_jobs_of_a_stage_run_say_what_they_have_read(bench: Bench) -> None:
    began: list[Any] = []

    def tell(what: str, _stage: Any, stage_run: Any) -> None:
        if what == "started":
            began.append(stage_run)

    bench.apply(BRONZE)
    bench.bring("a.jsonl", *({"id": number, "amount": 1} for number in range(100)))
    request = loop.submit_request(bench.runtime, [bench.tag], {}, "test")
    orders = ExecutionOptions(
        request_id=None, run_options=RunOptions(), asked_by="test", at_once=1, tell=tell
    )
    loop.tick(bench.runtime, bench.resources(), orders, awaited=request.request_id)

    [stage_run] = began
    seen = progress.measure(stage_run.stage_run_id)
    assert seen is not None
    assert seen.rows >= 100
    assert seen.bytes > 0
    assert 0 < seen.tasks_done <= seen.tasks
    assert progress.measure("nobody") == progress.Progress()
