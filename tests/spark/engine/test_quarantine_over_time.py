"""A row that was read is published, quarantined, dropped or discarded: one of them, at any time."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from goldsmith.engine.quarantine import quarantine_store
from goldsmith.engine.quarantine.quarantine_store import QuarantinedRows
from goldsmith.journal import incidents
from goldsmith.planning.lake import history
from spark.engine.conftest import Bench
from spark.engine.test_quarantine import GOLD, POSITIVE, RULES, counts, ruled
from spark.engine.test_stages import BRONZE, MERGED
from spark.engine.test_upkeep import dataset, restore

QUARANTINE = {**POSITIVE, "on_fail": "quarantine"}
ABS = "SELECT * EXCEPT (amount), abs(amount) AS amount FROM quarantined"


def holding(bench: Bench, layer: str = "bronze") -> QuarantinedRows | None:
    runtime = bench.runtime
    found = quarantine_store.quarantined_rows(
        runtime.storage, runtime.journal, [f"{layer}_{bench.tag}"]
    )
    return found[0] if found else None


def live(bench: Bench, layer: str = "bronze") -> list[dict[str, Any]]:
    """The live rows of a quarantine, as `quarantine show` has them."""
    runtime, dataset = bench.runtime, f"{layer}_{bench.tag}"
    shown = quarantine_store.rows_of(
        runtime.storage,
        runtime.journal,
        dataset,
        run_id=None,
        most=1000,
        unpublished=False,
        hide=frozenset(),
    )
    found = holding(bench, layer)
    assert len(shown) == (0 if found is None else found.rows)
    return shown


def live_ids(bench: Bench, layer: str = "bronze") -> list[int]:
    return sorted(row["row"]["id"] for row in live(bench, layer))


def test_a_full_refresh_leaves_no_earlier_quarantined_row_live(bench: Bench) -> None:
    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": 1}, {"id": 2, "amount": -2})
    bench.run()
    bench.run(full_refresh=True)
    assert live_ids(bench) == [2]

    assert counts(bench.run("stage:@-1", replay={"sql": ABS})[1]) == (1, 1, 0, 0)
    assert bench.rows("bronze", "id", "amount") == [(1, 1), (2, 2)]
    assert live(bench) == []


def test_a_file_rewritten_in_place_replaces_its_quarantined_rows_too(bench: Bench) -> None:
    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": -1}, '{"id": 9, "amo')
    bench.bring("b.jsonl", {"id": 2, "amount": -2})
    bench.run()
    bench.bring("a.jsonl", {"id": 1, "amount": 1})
    bench.run()

    assert live_ids(bench) == [2]
    bench.run("stage:@-1", replay={"sql": ABS})
    assert bench.rows("bronze", "id", "amount") == [(1, 1), (2, 2)]


def test_a_rewritten_file_whose_address_is_spelt_otherwise_replaces_its_quarantined_rows(
    bench: Bench,
) -> None:
    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": -1})
    bench.run()
    bench.sql("UPDATE sources SET s3_path = 's3a://raw//@' WHERE source_id = 'raw_@'")
    bench.bring("a.jsonl", {"id": 1, "amount": -1}, {"id": 2, "amount": 2})
    assert counts(bench.run()[1]) == (2, 1, 1, 0)
    assert live_ids(bench) == [1]


def test_a_row_dropped_as_a_repeat_comes_back_when_the_file_that_won_is_rewritten(
    bench: Bench,
) -> None:
    dedupe = "    options: {deduplicate: {keys: [id], newest_by: at}}\n"
    ruled(bench, QUARANTINE, more=dedupe)
    old, new = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
    folder = Path(bench.runtime.settings.address(f"s3://raw/{bench.tag}"))
    for day in ("2026-01-01", "2026-01-02"):
        (folder / day).mkdir(parents=True)
    first = ({"id": 1, "amount": 1, "at": old}, {"id": 3, "amount": -3, "at": old})
    kept = bench.bring("2026-01-01/a.jsonl", *first)
    bench.bring("2026-01-02/b.jsonl", {"id": 1, "amount": 2, "at": new}, {"id": 2, "amount": 2})
    bench.run()
    assert bench.rows("bronze", "id", "amount") == [(1, 2), (2, 2)]
    window = {"from": "2026-01-01T00:00:00+00:00", "to": "2026-01-02T00:00:00+00:00"}
    assert bench.run("stage:@-1", **window)[1].error_code == "NotIdempotent"

    bench.bring("2026-01-02/b.jsonl", {"id": 2, "amount": 20})
    assert bench.run()[1].status == "succeeded"
    assert bench.rows("bronze", "id", "amount") == [(1, 1), (2, 20)]
    assert live_ids(bench) == [3]

    kept.unlink()
    bench.bring("2026-01-02/b.jsonl", {"id": 2, "amount": 200})
    refused = bench.run()[1]
    assert refused.error_code == "FileRewritten"
    assert "is gone" in str(refused.error_message)
    assert bench.rows("bronze", "id", "amount") == [(1, 1), (2, 20)]
    assert live_ids(bench) == [3]


def test_a_file_is_not_read_again_while_quarantined_rows_may_be_of_it_and_do_not_say_so(
    bench: Bench,
) -> None:
    bench.apply(BRONZE)
    rules = RULES.split("stages:")[0].replace("CHECKS", json.dumps([QUARANTINE]))
    straight = MERGED.replace("bronze_@", "raw_@").replace("stage_order: 2", "stage_order: 5")
    bench.apply(straight + '    validation_set_id: "rule_@"\n' + rules)
    bench.bring("a.jsonl", {"id": 1, "amount": -1})
    bench.bring("b.jsonl", {"id": 2, "amount": -2})
    assert bench.run("stage:@-5")[5].status == "succeeded"
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    refused = bench.run("stage:@-5")[5]
    assert refused.error_code == "FileRewritten"
    assert "2 live rows of its quarantine" in str(refused.error_message)
    assert live_ids(bench, "silver") == [1, 2]

    bench.run("stage:@-5", replay={"sql": ABS})
    assert bench.run("stage:@-5")[5].status == "succeeded"
    assert bench.rows("silver", "id", "amount") == [(1, 10), (2, 2)]
    assert live(bench, "silver") == []


def test_a_replayed_row_goes_with_its_file_when_that_is_rewritten(bench: Bench) -> None:
    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": -1}, {"id": 2, "amount": -2})
    bench.run()
    sql = f"SELECT _id, id, abs(amount) AS amount FROM ({ABS})"
    bench.run("stage:@-1", replay={"sql": f"{sql} WHERE id = 1"})
    again = bench.run("stage:@-1", replay={"sql": None})[1]
    assert counts(again) == (1, 0, 1, 0)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.run()

    assert bench.rows("bronze", "id", "amount") == [(1, 10)]
    assert live(bench) == []


def test_a_restore_makes_replayed_rows_live_again(bench: Bench) -> None:
    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": 1}, {"id": 2, "amount": -2})
    first = bench.run()[1]
    bench.run("stage:@-1", replay={"sql": ABS})
    assert (bench.rows("bronze", "id"), live_ids(bench)) == ([(1,), (2,)], [])

    restore(bench, "bronze", str(first.snapshot))
    assert (bench.rows("bronze", "id"), live_ids(bench)) == ([(1,)], [2])
    bench.run("stage:@-1", replay={"sql": ABS})
    assert (bench.rows("bronze", "id"), live_ids(bench)) == ([(1,), (2,)], [])


def test_a_restore_takes_quarantined_rows_back_and_the_next_run_brings_them_once(
    bench: Bench,
) -> None:
    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": 1}, {"id": 2, "amount": -2})
    first = bench.run()[1]
    bench.bring("b.jsonl", {"id": 3, "amount": 3}, {"id": 4, "amount": -4})
    bench.run()
    bench.run(full_refresh=True)
    assert live_ids(bench) == [2, 4]

    restore(bench, "bronze", str(first.snapshot))
    assert live_ids(bench) == [2]
    bench.run()
    assert live_ids(bench) == [2, 4]
    bench.run("stage:@-1", replay={"sql": ABS})
    assert bench.rows("bronze", "id") == [(1,), (2,), (3,), (4,)]


@pytest.mark.parametrize("mode", ["append", "merge", "overwrite"])
def test_a_window_that_is_read_again_brings_its_quarantined_rows_once(
    bench: Bench, mode: str
) -> None:
    bench.apply(BRONZE)
    silver = MERGED.replace("write_mode: merge\n    keys: [id]", f"write_mode: {mode}")
    if mode == "merge":
        silver = MERGED
    rules = RULES.split("stages:")[0].replace("CHECKS", json.dumps([QUARANTINE]))
    bench.apply(silver + '    validation_set_id: "rule_@"\n' + rules)
    bench.bring("a.jsonl", {"id": 1, "amount": -1, "at": "2026-01-01T10:00:00Z"})
    bench.bring("b.jsonl", {"id": 2, "amount": -2, "at": "2026-01-02T10:00:00Z"})
    assert bench.run()[2].status == "succeeded"
    day = {"from": "2026-01-01T00:00:00+00:00", "to": "2026-01-02T00:00:00+00:00"}
    done = bench.run("stage:@-2", **day)[2]
    assert done.status == "succeeded", done.error_message

    assert live_ids(bench, "silver") == [1, 2]
    if mode != "overwrite":
        assert counts(bench.run("stage:@-2", replay={"sql": ABS})[2])[:2] == (2, 2)
        assert bench.rows("silver", "id", "amount") == [(1, 1), (2, 2)]
        assert live(bench, "silver") == []


def test_rows_that_came_after_the_last_run_are_not_brought_twice_by_a_backfill(
    bench: Bench,
) -> None:
    bench.apply(BRONZE)
    rules = RULES.split("stages:")[0].replace("CHECKS", json.dumps([QUARANTINE]))
    silver = MERGED.replace("write_mode: merge\n    keys: [id]", "write_mode: append")
    bench.apply(silver + '    validation_set_id: "rule_@"\n' + rules)
    day = {"from": "2026-01-01T00:00:00+00:00", "to": "2026-01-02T00:00:00+00:00"}
    at = "2026-01-01T10:00:00Z"
    bench.bring("a.jsonl", {"id": 1, "amount": 1, "at": at}, {"id": 2, "amount": -2, "at": at})
    bench.run("stage:@-1")
    assert bench.run("stage:@-2", **day)[2].error_code == "NotIdempotent"
    bench.run()
    bench.bring("b.jsonl", {"id": 3, "amount": 3, "at": at}, {"id": 4, "amount": -4, "at": at})
    bench.run("stage:@-1")
    assert counts(bench.run("stage:@-2", **day)[2]) == (2, 1, 1, 0)
    bench.run()

    assert bench.rows("silver", "id") == [(1,), (3,)]
    assert live_ids(bench, "silver") == [2, 4]


def day(number: int) -> dict[str, str]:
    """The window of a day of January."""
    start, end = (f"2026-01-{one:02}T00:00:00+00:00" for one in (number, number + 1))
    return {"from": start, "to": end}


def test_a_row_replayed_with_another_time_is_neither_lost_nor_doubled_by_a_backfill(
    bench: Bench,
) -> None:
    bench.apply(BRONZE)
    rules = RULES.split("stages:")[0].replace("CHECKS", json.dumps([QUARANTINE]))
    silver = MERGED.replace("write_mode: merge\n    keys: [id]", "write_mode: append")
    bench.apply(silver + '    validation_set_id: "rule_@"\n' + rules)
    at, later = "2026-01-01T10:00:00Z", "2026-01-05T10:00:00Z"
    bench.bring("a.jsonl", {"id": 1, "amount": 1, "at": at}, {"id": 2, "amount": -2, "at": at})
    bench.run()
    sql = f"SELECT * EXCEPT (at), TIMESTAMP '{later}' AS at FROM ({ABS})"
    assert counts(bench.run("stage:@-2", replay={"sql": sql})[2]) == (1, 1, 0, 0)
    for number in (1, 5):
        done = bench.run("stage:@-2", **day(number))[2]
        assert done.error_code == "NotIdempotent", done.error_message
    assert (bench.rows("silver", "id"), live_ids(bench, "silver")) == ([(1,), (2,)], [])
    bench.run(full_refresh=True)
    assert bench.run("stage:@-2", **day(1))[2].status == "succeeded"
    assert (bench.rows("silver", "id"), live_ids(bench, "silver")) == ([(1,)], [2])


def test_quarantined_rows_whose_time_the_sql_shifts_are_not_taken_by_a_backfill(
    bench: Bench,
) -> None:
    bench.apply(BRONZE)
    rules = RULES.split("stages:")[0].replace("CHECKS", json.dumps([QUARANTINE]))
    shifted = "CAST(at AS TIMESTAMP) + INTERVAL 1 DAY AS at"
    silver = MERGED.replace("amount, at FROM", f"amount, {shifted} FROM")
    bench.apply(silver + '    validation_set_id: "rule_@"\n' + rules)
    bench.bring("a.jsonl", {"id": 1, "amount": -1, "at": "2026-01-01T10:00:00Z"})
    bench.bring("b.jsonl", {"id": 2, "amount": 2, "at": "2026-01-02T10:00:00Z"})
    bench.run()
    for number in (1, 2):
        done = bench.run("stage:@-2", **day(number))[2]
        assert done.error_code == "NotIdempotent", done.error_message
    assert (bench.rows("silver", "id"), live_ids(bench, "silver")) == ([(2,)], [1])
    bench.run("stage:@-2", replay={"sql": ABS})
    assert bench.run("stage:@-2", **day(2))[2].status == "succeeded"
    assert (bench.rows("silver", "id"), live_ids(bench, "silver")) == ([(1,), (2,)], [])


def test_a_first_run_that_fails_leaves_no_table(bench: Bench) -> None:
    ruled(bench, {**POSITIVE, "severity": "critical", "on_fail": "fail"})
    bench.bring("a.jsonl", {"id": 1, "amount": -1})
    assert bench.run()[1].status == "failed"
    assert not bench.spark.catalog.tableExists(f"lake.bronze.bronze_{bench.tag}")
    bench.bring("a.jsonl", {"id": 1, "amount": 1})
    assert bench.run()[1].status == "succeeded"
    assert bench.rows("bronze", "id") == [(1,)]


def test_each_run_of_an_overwritten_table_replaces_what_it_quarantined(bench: Bench) -> None:
    ruled(bench, QUARANTINE, more="    write_mode: overwrite\n")
    bench.bring("a.jsonl", {"id": 1, "amount": 1}, {"id": 2, "amount": -2})
    bench.run()
    bench.bring("b.jsonl", {"id": 3, "amount": 3}, {"id": 4, "amount": -4})
    bench.run()
    assert live_ids(bench) == [2, 4]


def test_an_older_row_that_is_replayed_never_replaces_a_newer_one(bench: Bench) -> None:
    bench.apply(BRONZE)
    rules = RULES.split("stages:")[0].replace("CHECKS", json.dumps([QUARANTINE]))
    bench.apply(MERGED + '    validation_set_id: "rule_@"\n' + rules)
    bench.bring("a.jsonl", {"id": 1, "amount": -1, "at": "2026-01-01T00:00:00Z"})
    bench.run()
    bench.bring("b.jsonl", {"id": 1, "amount": 5, "at": "2026-01-02T00:00:00Z"})
    bench.run()
    bench.run("stage:@-2", replay={"sql": ABS})
    assert bench.rows("silver", "id", "amount") == [(1, 5)]
    assert live(bench, "silver") == []


def test_a_replay_into_bronze_has_its_file_and_says_which_run_brought_it(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": -1}, '{"id": 2, "amo')
    first = bench.run()[1]
    sql = "SELECT _id, coalesce(id, 2) AS id, 5 AS amount FROM quarantined"
    with caplog.at_level(logging.WARNING):
        done = bench.run("stage:@-1", replay={"sql": sql})[1]

    file = f"s3://raw/{bench.tag}/a.jsonl"
    rows = bench.rows("bronze", "id", "_source_file", "_run_id")
    assert rows == [(1, file, done.run_id), (2, file, done.run_id)]
    assert done.run_id != first.run_id
    assert all(at is not None for (at,) in bench.rows("bronze", "_ingested_at"))
    assert "LeaseLost" not in caplog.text
    assert ("LeaseLost", None) not in bench.events(done.stage_run_id)


@pytest.mark.parametrize(
    "replay", [{"sql": None}, {"sql": f"{ABS} WHERE id = 77"}, {"run_id": "run-0"}]
)
def test_a_replay_that_matches_nothing_is_skipped_and_opens_no_incident(
    bench: Bench, replay: dict[str, Any]
) -> None:
    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": 1}, '{"id": 2, "amo')
    bench.run()
    done = bench.run("stage:@-1", replay=replay)[1]

    assert (done.status, done.error_code) == ("skipped", None)
    assert "nothing to replay" in str(done.because).lower()
    about = [incident.about for incident in incidents.listed(bench.runtime.journal)]
    assert f"stage:{bench.tag}-1" not in about
    assert len(live(bench)) == 1


def test_a_replay_of_rows_that_are_not_there_opens_no_incident(
    bench: Bench, tmp_path: Path
) -> None:
    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": -1})
    bench.run()
    strange = tmp_path / "strange.jsonl"
    strange.write_text('{"_id": "nobody/broken/0", "id": 1, "amount": 1}\n')
    done = bench.run("stage:@-1", replay={"file": str(strange)})[1]

    assert done.error_code == "CannotReplay"
    about = [incident.about for incident in incidents.listed(bench.runtime.journal)]
    assert f"stage:{bench.tag}-1" not in about
    assert live_ids(bench) == [1]


def test_a_mended_csv_is_read_in_the_types_of_the_rows_and_keeps_other_columns(
    bench: Bench, tmp_path: Path
) -> None:
    zip_code = {"type": "not_null", "column": "name", "on_fail": "quarantine"}
    ruled(bench, zip_code)
    bench.apply(BRONZE.replace("id BIGINT, amount BIGINT", "id BIGINT, zip STRING, name STRING"))
    bench.apply(RULES.replace("CHECKS", json.dumps([zip_code])))
    bench.bring("a.jsonl", {"id": 1, "zip": "00123"}, {"id": 2, "zip": "00456"})
    bench.run()
    one, two = sorted(live(bench), key=lambda row: row["row"]["id"])
    mended = tmp_path / "mended.csv"
    mended.write_text(f"_id,id,name\n{one['id']},first,x\n")
    refused = bench.run("stage:@-1", replay={"file": str(mended)})[1]
    assert refused.error_code == "CannotReplay"
    assert f"'first' in column id (row {one['id']}) is no bigint" in str(refused.error_message)
    assert "--sql" not in refused.facts["hint"]
    mended.write_text(f'_id,zip,name\n{one["id"]},00789,"say ""hi"", you"\n{two["id"]},,007\n')
    done = bench.run("stage:@-1", replay={"file": str(mended)})[1]

    assert done.status == "succeeded", done.error_message
    assert bench.rows("bronze", "id", "name", "zip") == [
        (1, 'say "hi", you', "00789"),
        (2, "007", None),
    ]


def test_a_replay_that_fails_does_not_count_against_its_pipeline(bench: Bench) -> None:
    from datetime import UTC, datetime, timedelta

    from goldsmith.journal import healing
    from goldsmith.journal.reasons import why
    from goldsmith.journal.status_screen import status_screen

    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": -1})
    bench.run()
    done = bench.run("stage:@-1", replay={"sql": "SELECT nothing FROM quarantined"})[1]

    runtime, pipeline = bench.runtime, f"pipeline:{bench.tag}"
    assert done.status == "failed"
    about = [one.about for one in incidents.listed(runtime.journal)]
    assert f"stage:{bench.tag}-1" not in about
    day_ago = datetime.now(UTC) - timedelta(days=1)
    assert healing.failures_since_success(runtime.journal, bench.tag, day_ago) == 0
    now = status_screen(runtime.catalog_url, most=1000)
    assert pipeline not in [entry.subject for entry in now.parts["failed"].newest]
    assert why(runtime.catalog_url, pipeline).state == "succeeded"
    assert why(runtime.catalog_url, f"stage:{bench.tag}-1").state == "succeeded"


TYPES = """
  1 AS id, -1 AS amount, map(1, 'a', 2, NULL) AS by_number,
  map(DATE '2026-01-01', array(map(CAST(1.5 AS DECIMAL(5,2)), X'00FF'))) AS deep,
  map(named_struct('a', 1, 'b', TIMESTAMP '2026-01-01 00:00:00.123456'), 1) AS by_struct,
  map(X'00', map(true, 'x')) AS by_bytes, X'00FF10' AS bytes,
  CAST('12345678901234567890.123456789012345678' AS DECIMAL(38,18)) AS exact,
  CAST('NaN' AS DOUBLE) AS nan, CAST('-Infinity' AS FLOAT) AS infinite,
  array(CAST('NaN' AS FLOAT), CAST('Infinity' AS FLOAT), 0.1f) AS floats,
  TIMESTAMP '9999-12-31 23:59:59.999999' AS far, TIMESTAMP '0001-01-01 00:00:00' AS early,
  TIMESTAMP_NTZ '2026-01-01 00:00:00.000001' AS local, DATE '0001-01-01' AS day,
  CAST('ab' AS CHAR(4)) AS padded, 'a"b\\\\n\\u0000 ü' AS odd,
  named_struct('x', CAST(NULL AS STRUCT<y: MAP<INT, INT>>), 'e', map(1, 1.5)) AS nested,
  CAST(map() AS MAP<INT, INT>) AS no_entries,
  CAST(NULL AS MAP<BIGINT, BIGINT>) AS nothing
"""


def test_every_type_survives_the_quarantine(bench: Bench) -> None:
    sql = json.dumps(f"SELECT {' '.join(TYPES.split())}, _source_file FROM raw_@")
    ruled(bench, QUARANTINE, more=f"    transform_sql: {sql}\n")
    bench.bring("a.jsonl", {"id": 1})
    done = bench.run()[1]
    assert counts(done) == (1, 0, 1, 0), done.error_message
    assert counts(bench.run("stage:@-1", replay={"sql": ABS})[1])[:2] == (1, 1)

    wanted = bench.spark.sql(f"SELECT {' '.join(TYPES.split())}")
    names = [name for name in wanted.columns if name != "amount"]
    there = bench.spark.table(f"lake.bronze.bronze_{bench.tag}")
    as_text = [f"to_json(struct(CAST({name} AS STRING)))" for name in names]
    assert there.selectExpr(*as_text).collect() == wanted.selectExpr(*as_text).collect()
    for name in ("exact", "far", "bytes", "odd", "local", "day", "infinite"):
        assert there.select(name).collect() == wanted.select(name).collect(), name


def test_columns_that_are_named_like_ours_survive_the_quarantine(
    bench: Bench, tmp_path: Path
) -> None:
    own = "_id STRING, _text STRING, _checks BIGINT, _row STRING, _stage_run_id STRING"
    ruled(bench, QUARANTINE)
    bench.apply(BRONZE.replace("id BIGINT, amount", f"id BIGINT, {own}, amount"))
    bench.apply(RULES.replace("CHECKS", json.dumps([QUARANTINE])))
    mine = {"_id": "mine", "_text": "t", "_checks": 7, "_row": "r", "_stage_run_id": "s"}
    bench.bring("a.jsonl", {"id": 1, "amount": -1, **mine}, {"id": 2, "amount": -2, **mine})
    bench.run()
    assert [row["row"]["_id"] for row in live(bench)] == ["mine", "mine"]
    done = bench.run("stage:@-1", replay={"sql": f"{ABS} WHERE id = 1"})[1]
    assert counts(done) == (1, 1, 0, 0), done.error_message

    (left,) = live(bench)
    mended = tmp_path / "mended.jsonl"
    mended.write_text(json.dumps({"id": 2, "amount": 2, **mine}) + "\n")
    refused = bench.run("stage:@-1", replay={"file": str(mended)})[1]
    assert refused.error_code == "CannotReplay"
    assert "_quarantine_id" in str(refused.error_message)
    mended.write_text(
        json.dumps({"_quarantine_id": left["id"], "id": 2, "amount": 2, **mine}) + "\n"
    )
    assert counts(bench.run("stage:@-1", replay={"file": str(mended)})[1]) == (1, 1, 0, 0)
    assert bench.rows("bronze", "id", "amount", *mine) == [
        (1, 1, "mine", "t", 7, "r", "s"),
        (2, 2, "mine", "t", 7, "r", "s"),
    ]


def test_rows_quarantined_with_other_columns_are_replayed_with_their_own(bench: Bench) -> None:
    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": -1})
    bench.run()
    bench.apply(BRONZE.replace("at TIMESTAMP", "at TIMESTAMP, channel STRING"))
    bench.apply(RULES.replace("CHECKS", json.dumps([QUARANTINE])))
    bench.bring("b.jsonl", {"id": 2, "amount": -2, "channel": "app"})
    bench.run()
    bench.apply(BRONZE)
    bench.apply(RULES.replace("CHECKS", json.dumps([QUARANTINE])))
    bench.bring("c.jsonl", {"id": 3, "amount": -3})
    bench.run()

    assert counts(bench.run("stage:@-1", replay={"sql": ABS})[1])[:2] == (3, 3)
    rows = bench.rows("bronze", "id", "channel")
    assert rows == [(1, None), (2, "app"), (3, None)]


def test_a_discard_is_written_to_the_audit_log_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from goldsmith.engine import faults

    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": -1}, {"id": 2, "amount": -2})
    bench.run()
    storage, journal, dataset = bench.runtime.storage, bench.runtime.journal, f"bronze_{bench.tag}"
    first, second = (row["id"] for row in live(bench))

    class Killed(BaseException):
        pass

    def die(point: str) -> None:
        if point == "rows-discarded":
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(faults, "reach", die)
        with pytest.raises(Killed):
            quarantine_store.discard(
                storage, journal, dataset, ids=[first], actor="ann", because="test data"
            )
    assert len(live(bench)) == 1
    assert quarantine_store.discard(storage, journal, dataset, ids=[second], actor="bob") == 1
    query = "SELECT actor, facts FROM audit_log WHERE kind = 'RowsDiscarded' ORDER BY event_id"
    recorded = [
        (actor, json.loads(facts).get("because"), json.loads(facts)["rows"])
        for actor, facts in bench.sql(query)
        if json.loads(facts)["dataset_id"] == dataset
    ]
    assert recorded == [("ann", "test data", 1), ("bob", None, 1)]


def test_runs_whose_word_the_quarantine_needs_are_not_forgotten(bench: Bench) -> None:
    from datetime import UTC, datetime, timedelta

    from goldsmith.journal import retention

    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": -1}, {"id": 2, "amount": -2})
    bench.run()
    bench.run(full_refresh=True)
    bench.run("stage:@-1", replay={"sql": f"{ABS} WHERE id = 1"})
    bench.bring("b.jsonl", {"id": 3, "amount": -3})
    bench.run()
    bench.bring("b.jsonl", {"id": 3, "amount": 30})
    bench.run()
    bench.bring("c.jsonl", {"id": 4, "amount": 4})
    bench.run()
    retention.forget_before(bench.runtime.journal, datetime.now(UTC) + timedelta(days=1))

    assert live_ids(bench) == [2]


def test_maintenance_purges_quarantined_rows_that_can_never_be_live_again(bench: Bench) -> None:
    from goldsmith.engine.maintenance import maintenance

    def maintained(days: int) -> int:
        bench.apply(
            f'targets: [{{target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3,'
            f" options: {{retain_days: {days}}}}}]"
        )
        catalog_index = bench.runtime.catalog_indexer.catalog_index()
        context = catalog_index.stages[f"{bench.tag}-1"]
        return int(
            maintenance.maintain(bench.resources(), catalog_index, context, "ann")["purged_rows"]
        )

    def kept() -> list[int]:
        table = f"lake.quarantine.bronze_{bench.tag}"
        bench.spark.catalog.refreshTable(table)  # it was written without Spark
        rows = bench.spark.table(table).collect()
        return sorted(json.loads(row["_row"])["id"] for row in rows)

    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": -1}, {"id": 2, "amount": -2}, {"id": 3, "amount": 3})
    first = bench.run()[1]
    bench.run("stage:@-1", replay={"sql": f"{ABS} WHERE id = 1"})
    bench.bring("b.jsonl", {"id": 4, "amount": -4})
    bench.run()
    bench.bring("b.jsonl", {"id": 4, "amount": 44})
    bench.run()
    assert maintained(5) == 0
    restore(bench, "bronze", str(first.snapshot))
    assert live_ids(bench) == [1, 2]
    bench.run("stage:@-1", replay={"sql": f"{ABS} WHERE id = 1"})
    bench.run()

    assert (live_ids(bench), kept()) == ([2], [1, 2, 4])
    assert maintained(0) == 2
    assert (live_ids(bench), kept()) == ([2], [2])
    states = bench.spark.table(f"lake.quarantine.bronze_{bench.tag}.snapshots")
    assert states.count() <= 2
    bench.run("stage:@-1", replay={"sql": ABS})
    assert bench.rows("bronze", "id", "amount") == [(1, 1), (2, 2), (3, 3), (4, 44)]


def test_a_replay_of_a_stage_that_is_not_enabled_changes_nothing(bench: Bench) -> None:
    from goldsmith.worker.loop import EverythingStopped

    ruled(bench, QUARANTINE)
    bench.bring("a.jsonl", {"id": 1, "amount": -1}, {"id": 2, "amount": 2})
    bench.run()
    bench.sql("UPDATE stages SET enabled = false WHERE pipeline_id = '@'")
    with pytest.raises(EverythingStopped):
        bench.run("stage:@-1", replay={"sql": ABS})
    assert (bench.rows("bronze", "id"), live_ids(bench)) == ([(2,)], [1])
    bench.sql("UPDATE stages SET enabled = true WHERE pipeline_id = '@'")
    bench.turn(bench.resources())
    bench.run("stage:@-1", replay={"sql": ABS})
    assert (bench.rows("bronze", "id"), live_ids(bench)) == ([(1,), (2,)], [])


@pytest.mark.parametrize("mode", ["append", "merge\n    keys: [id]\n    watermark_column: at"])
def test_a_warehouse_table_with_replayed_rows_is_not_rebuilt_without_them(
    bench: Bench, mode: str
) -> None:
    from goldsmith.planning.past_state import CannotRestore
    from spark.engine.test_upkeep import plan

    bench.apply(BRONZE)
    rules = RULES.split("stages:")[0].replace("CHECKS", json.dumps([QUARANTINE]))
    bench.apply(rules + GOLD.replace("WORDS", f"write_mode: {mode}"))
    bench.bring("a.jsonl", {"id": 1, "amount": 1, "at": "2026-01-01T00:00:00Z"})
    bench.bring("b.jsonl", {"id": 2, "amount": -2, "at": "2026-01-01T00:00:00Z"})
    first = bench.run()[3]
    replayed = bench.run("stage:@-3", replay={"sql": ABS})[3]
    assert counts(replayed)[:2] == (1, 1)
    assert live(bench, "gold") == []

    with pytest.raises(CannotRestore, match="replay"):
        plan(bench, "gold", replayed.stage_run_id)
    plan(bench, "gold", first.stage_run_id)
    again = bench.run("stage:@-3", as_of=first.stage_run_id)[3]
    assert again.status == "succeeded", again.error_message
    assert live_ids(bench, "gold") == [2]


CHECKED_MERGE = f"""
validation_rules:
  - rule_set_id: "rule_@"
    check_def: {json.dumps([QUARANTINE])}
{MERGED.strip()}
    validation_set_id: "rule_@"
"""


@pytest.mark.parametrize("watermark", ["", "    watermark_column: at\n"])
def test_a_row_fixed_in_the_input_of_a_merge_is_not_also_quarantined(
    bench: Bench, watermark: str
) -> None:
    bench.apply(BRONZE)
    bench.apply(CHECKED_MERGE.replace("    watermark_column: at\n", watermark))
    at, earlier = "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"
    bench.bring("a.jsonl", *({"id": n, "amount": -n, "at": at} for n in (1, 2, 3)))
    bench.run()
    before = str(history(dataset(bench, "silver"), bench.runtime.storage).current)
    rows = ({"id": 1, "amount": 1, "at": at}, {"id": 2, "amount": -22, "at": at})
    bench.bring("a.jsonl", *rows, {"id": 3, "amount": 3, "at": earlier})
    bench.run()

    assert bench.rows("silver", "id", "amount") == [(1, 1), (3, 3)]
    # Where a watermark says so, the quarantined row 3 is the newer one.
    newer = [-3] if watermark else []
    assert sorted(row["row"]["amount"] for row in live(bench, "silver")) == [-22, *newer]
    restore(bench, "silver", before)
    assert live_ids(bench, "silver") == [1, 2, 3]
