from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from stories.conftest import OnS3
from stories.environment_catalog import CATALOG, prompt

FILES = 2_000


@pytest.mark.soak
@pytest.mark.postgres
def test_two_thousand_small_files_on_s3_are_read_once(on_s3: OnS3) -> None:
    there = on_s3("many")
    folder = there.folder
    (folder / "goldsmith.toml").write_text(there.toml)
    (folder / "catalog.yaml").write_text(CATALOG)

    def put(number: int) -> None:
        order = {"order_id": number, "customer_id": "a", "amount": 1, "at": "2026-01-01T00:00:00Z"}
        there.put(f"orders/day={number % 30}/{number}.jsonl", json.dumps(order).encode())

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(put, range(FILES)))
    with prompt(there) as goldsmith:
        goldsmith.say("catalog", "migrate", "--yes")
        goldsmith.say("apply", str(folder / "catalog.yaml"), "--yes")
        first = goldsmith.ask("run", "bronze_orders")
        put(FILES)
        second = goldsmith.ask("run", "bronze_orders")
        shown = goldsmith.ask("datasets", "show", "bronze_orders")

    assert [run["stages"][0]["rows_written"] for run in (*first, *second)] == [FILES, 1]
    assert shown["rows"] == FILES + 1
