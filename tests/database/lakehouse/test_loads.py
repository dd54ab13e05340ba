"""Loads: both generations of clients, once by content, exactly once after a kill, all or none."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from goldsmith.journal import api_keys
from goldsmith.journal.access_tables import Role
from goldsmith.lakehouse import applications, carry_out, loads
from goldsmith.lakehouse.commit import StagedRecords
from goldsmith.lakehouse.raw_tables import ensure_table, ensure_tables, find_table
from lakehouse_story import DAY, RUN, Lakehouse, record
from plain_sql import PlainSql

#: The bodies as the two generations of clients sent them, byte for byte.
GEN_1 = (
    b'{"fileKeys": [], "patterns": ["artifacts/apps/redshift/workflows/wf-1/run-1/raw_lakehouse/'
    b'**/*.jsonl"], "namespace": "entity_raw", "tableName": "redshift", "mode": "APPEND"}'
)
GEN_2 = (
    b'{"fileKeys": [], "patterns": ["artifacts/apps/redshift/workflows/wf-1/run-1/raw_lakehouse/'
    b'**/*.parquet"], "namespace": "int_entity_raw", "tableName": "redshift", "mode": "APPEND"}'
)
HEADERS = {"X-Atlan-Tenant-Id": "tenant-a", "Content-Type": "application/json"}
URL = "/atlan/lh/v1/tenant-a/load"


@pytest.mark.parametrize(("body", "suffix"), [(GEN_1, "jsonl"), (GEN_2, "parquet")])
def test_the_recorded_requests_are_served_from_health_to_rows(
    lakehouse: Lakehouse, body: bytes, suffix: str
) -> None:
    lakehouse.file(f"{RUN}/raw_lakehouse/table/chunk-0.{suffix}", record("a"), record("b"))
    lakehouse.file(f"{RUN}/raw_lakehouse/column/chunk-0.{suffix}", record("c", typename="column"))
    assert lakehouse.client.get("/actuator/health").status_code == 200
    answer = lakehouse.client.post(URL, content=body, headers=HEADERS)
    assert answer.status_code == 202
    job = answer.json()["jobId"]
    assert (answer.json()["status"], bool(answer.json()["workflowId"])) == ("ACCEPTED", True)
    assert lakehouse.status(job)["status"] == "ACCEPTED"
    assert lakehouse.process() == 1
    ended = lakehouse.status(job)
    assert (ended["status"], ended["rowsLoaded"], ended["matchedFiles"]) == ("COMPLETED", 3, 2)
    assert lakehouse.rows() == [record("a"), record("b"), record("c", typename="column")]
    assert lakehouse.process() == 0


def test_a_load_sent_six_times_is_one_and_a_changed_file_is_another(lakehouse: Lakehouse) -> None:
    lakehouse.file("r/a.jsonl", record("a"))
    jobs = {lakehouse.submit("r/*.jsonl") for _ in range(3)}
    lakehouse.process()
    jobs |= {lakehouse.submit("r/*.jsonl") for _ in range(3)}
    # Another pattern of the same files, and the other name of the namespace, too.
    jobs |= {lakehouse.submit("r/**", namespace="int_entity_raw")}
    assert lakehouse.process() == 0
    assert (len(jobs), lakehouse.names()) == (1, ["a"])
    lakehouse.file("r/a.jsonl", record("changed"))
    assert lakehouse.submit("r/*.jsonl") not in jobs


@pytest.mark.parametrize("empty", [{"fileKeys": None}, {"fileKeys": []}, {}])
def test_null_missing_and_empty_lists_are_the_same(
    lakehouse: Lakehouse, empty: dict[str, Any]
) -> None:
    lakehouse.file("r/a.jsonl", record("a"))
    body = {"namespace": "entity_raw", "tableName": "redshift"}
    assert lakehouse.post(body | empty | {"patterns": ["r/*.jsonl"]}).status_code == 202
    swapped = {"patterns" if name == "fileKeys" else name: value for name, value in empty.items()}
    assert lakehouse.post(body | swapped | {"fileKeys": ["r/a.jsonl"]}).status_code == 202
    refused = lakehouse.post(body | empty)
    assert (refused.status_code, refused.json()["code"]) == (400, "BadLoad")


def test_a_kill_between_commit_and_record_is_recognised(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch, plain: PlainSql
) -> None:
    lakehouse.file("r/a.jsonl", record("a"), record("b"))
    job = lakehouse.submit("r/*.jsonl")

    class Killed(BaseException):
        pass

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(carry_out, "_end", killed)
        with pytest.raises(Killed):
            lakehouse.process()
    assert lakehouse.status(job)["status"] == "RUNNING"
    assert lakehouse.process() == 0  # its process may still live
    plain.run("UPDATE lakehouse_loads SET owned_until = '2026-01-01 00:00:00+00:00'")
    assert lakehouse.process() == 1
    ended = lakehouse.status(job)
    assert (ended["status"], ended["rowsLoaded"], lakehouse.names()) == ("COMPLETED", 2, ["a", "b"])


def test_a_load_whose_process_is_dead_is_taken_over_at_once(
    lakehouse: Lakehouse, plain: PlainSql
) -> None:
    lakehouse.file("r/a.jsonl", record("a"))
    job = lakehouse.submit("r/*.jsonl")
    host = carry_out.Owner.this_process().host
    plain.run(
        f"UPDATE lakehouse_loads SET status = 'RUNNING', owner = '{host}:4194304:1', "
        "owned_until = '2999-01-01 00:00:00+00:00'"
    )
    assert lakehouse.process() == 1
    assert lakehouse.status(job)["status"] == "COMPLETED"


def test_two_processes_with_the_same_load_commit_it_once(lakehouse: Lakehouse) -> None:
    table = ensure_table(lakehouse.runtime.storage, "redshift")
    both = [StagedRecords(table=table), StagedRecords(table=table)]
    for staged in both:
        staged.add(pa.Table.from_pylist([record("a")], schema=carry_out.records.SCHEMA))
    first, second = (staged.commit("load-1") for staged in both)
    assert first == second
    assert lakehouse.names() == ["a"]
    assert lakehouse.data_files() == 1


def test_a_commit_in_between_is_seen_and_the_load_is_added_to_it(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = ensure_table(lakehouse.runtime.storage, "redshift")
    staged = StagedRecords(table=table)
    staged.add(pa.Table.from_pylist([record("a")], schema=carry_out.records.SCHEMA))
    other = StagedRecords(table=ensure_table(lakehouse.runtime.storage, "redshift"))
    other.add(pa.Table.from_pylist([record("b")], schema=carry_out.records.SCHEMA))
    kind = type(table.transaction())
    commit = kind.commit_transaction
    waiting = [lambda: other.commit("load-2")]

    def commit_after_another(self: Any) -> Any:
        if waiting:
            waiting.pop()()
        return commit(self)

    monkeypatch.setattr(kind, "commit_transaction", commit_after_another)
    staged.commit("load-1")
    assert lakehouse.names() == ["a", "b"]


def test_nothing_matched_completes_with_zero(lakehouse: Lakehouse) -> None:
    ended = lakehouse.load("nowhere/**/*.parquet")
    found = (ended["status"], ended["rowsLoaded"], ended["matchedFiles"])
    assert found == ("COMPLETED", 0, 0)
    assert find_table(lakehouse.runtime.storage, "redshift") is not None


LONG = json.dumps({"x": "y" * 20_000_000})


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"raw_record": "[1]"}, "raw_record 2 is no JSON object"),
        ({"raw_record": '{"a": NaN}'}, "NaN is no JSON"),
        ({"raw_record": "{"}, "is not JSON"),
        ({"raw_record": "[" * 100_000}, "is not JSON"),
        ({"raw_record": LONG}, "larger than 16,777,216 bytes"),
        ({"raw_record": None}, "raw_record of record 2 is empty"),
        ({"typename": None}, "typename of record 2 is empty"),
        ({"extracted_at": -1}, "no time in milliseconds"),
        ({"extracted_at": 10**18}, "no time in milliseconds"),
        ({"tenant_id": "tenant-b"}, "record 2 belongs to another tenant"),
    ],
)
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_bad_record_fails_the_load_and_nothing_of_it_is_stored(
    lakehouse: Lakehouse, bad: dict[str, Any], says: str, suffix: str
) -> None:
    lakehouse.file(f"r/0.{suffix}", record("good"))
    lakehouse.file(f"r/1.{suffix}", record("a"), record("b", **bad))
    ended = lakehouse.load(f"r/*.{suffix}")
    assert ended["status"] == "FAILED"
    assert f"r/1.{suffix}" in ended["message"]
    assert says in ended["message"]
    assert lakehouse.rows() == []
    assert lakehouse.data_files() == 0


def test_wrong_columns_and_half_written_files_fail_with_a_sentence(lakehouse: Lakehouse) -> None:
    messages = {}
    short = record("a")
    del short["workflow_id"]
    lakehouse.file("missing/a.parquet", short)
    lakehouse.file("extra/a.parquet", record("a", more=1))
    lakehouse.file("type/a.parquet", record("a", extracted_at="now"))
    half = lakehouse.file("half/a.parquet", record("a"))
    half.write_bytes(half.read_bytes()[:-20])
    lakehouse.file("empty/a.parquet", record("a")).write_bytes(b"")
    lakehouse.file("lines/a.jsonl", short)
    lakehouse.file("text/a.jsonl", record("a", extracted_at="5"))
    lakehouse.file("cut/a.jsonl", record("a")).write_text('{"typename": "ta')
    lakehouse.file("odd/a.csv", record("a"))
    for folder in ("missing", "extra", "type", "half", "empty", "lines", "text", "cut", "odd"):
        ended = lakehouse.load(f"{folder}/*")
        assert ended["status"] == "FAILED", folder
        messages[folder] = ended["message"]
    for folder, says in {
        "missing": "no column workflow_id",
        "extra": "unknown column more",
        "type": "extracted_at is string",
        "half": "cannot be read as Parquet",
        "empty": "cannot be read as Parquet",
        "lines": "no column workflow_id",
        "text": "not a whole number",
        "cut": "line 1 is not JSON",
        "odd": "neither .parquet nor .jsonl",
    }.items():
        assert says in messages[folder], messages[folder]
    assert lakehouse.rows() == []


def test_a_failed_load_may_be_sent_again(lakehouse: Lakehouse) -> None:
    lakehouse.file("r/a.jsonl", record("a", raw_record="1"))
    first = lakehouse.load("r/*")
    again = lakehouse.load("r/*")
    assert (first["status"], again["status"]) == ("FAILED", "FAILED")
    assert first["jobId"] != again["jobId"]


def test_a_file_that_changes_after_the_submit_fails_the_load(lakehouse: Lakehouse) -> None:
    lakehouse.file("r/a.jsonl", record("a"))
    job = lakehouse.submit("r/*")
    lakehouse.file("r/a.jsonl", record("a"), record("b"))
    lakehouse.process()
    assert "changed after the load was submitted" in lakehouse.status(job)["message"]
    assert lakehouse.rows() == []


@pytest.mark.parametrize(
    "path",
    [
        *("../tenant-b/*", "a/../../tenant-b/x.jsonl", "/etc/passwd", "s3://other/x", "a//b", "."),
        *("file:///etc/passwd", "a\\..\\b", "C:/x", "a/./b", "", "a\x00b", "a\n", "x" * 2000),
        *("a\u202eb", "..", "a/.."),
    ],
)
def test_no_path_leaves_the_prefix_of_the_tenant(lakehouse: Lakehouse, path: str) -> None:
    lakehouse.file("x.jsonl", record("b", tenant_id="tenant-b"), tenant="tenant-b")
    body = {"namespace": "entity_raw", "tableName": "redshift"}
    for name in ("patterns", "fileKeys"):
        refused = lakehouse.post(body | {name: [path]})
        assert (refused.status_code, refused.json()["code"]) == (400, "BadLoad"), name
    assert loads.listed(lakehouse.runtime.journal, most=9) == []


def test_a_link_does_not_leave_it_either(lakehouse: Lakehouse) -> None:
    foreign = lakehouse.file("x.jsonl", record("b"), tenant="tenant-b")
    own = lakehouse.file("a.jsonl", record("a"))
    (own.parent / "link.jsonl").symlink_to(foreign)
    body = {"namespace": "entity_raw", "tableName": "redshift", "patterns": ["*.jsonl"]}
    assert "outside" in lakehouse.post(body).json()["detail"]


def test_other_tenants_and_other_machines_are_refused(lakehouse: Lakehouse) -> None:
    lakehouse.file("a.jsonl", record("a"))
    job = lakehouse.submit("a.jsonl")
    status = f"/atlan/lh/v1/tenant-a/load/{job}/status"
    ask = lakehouse.client.get
    assert ask(status).status_code == 403
    assert ask(status, headers={"X-Atlan-Tenant-Id": "tenant-b"}).status_code == 403
    foreign = {"X-Atlan-Tenant-Id": "tenant-b"}
    assert ask(status.replace("tenant-a", "tenant-b"), headers=foreign).status_code == 404
    own = {"X-Atlan-Tenant-Id": "tenant-a"}
    assert ask(status, headers=own | {"X-Lakehouse-Job-Id": "other"}).status_code == 400
    for more in ({"X-Forwarded-For": "1.2.3.4"}, {"Host": "evil.example"}):
        assert ask(status, headers=own | more).status_code == 401
    journal = lakehouse.runtime.journal
    for role, expected in ((Role.VIEWER, 403), (Role.OPERATOR, 200)):
        _, token = api_keys.create(journal, owner=role.value, role=role, created_by="ann")
        keyed = own | {"Host": "goldsmith.example", "Authorization": f"Bearer {token}"}
        assert ask(status, headers=keyed).status_code == expected
    assert ask(status, headers=own | {"Authorization": "Bearer no"}).status_code == 401


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tableName": "redshfit"}, "redshift"),
        ({"tableName": "old"}, "withdrawn"),
        ({"tableName": 7}, "tableName"),
        ({"namespace": "entity_metadata"}, "entity_raw"),
        ({"mode": "REPLACE"}, "APPEND"),
        ({"patterns": ["a"] * 11}, "at most 10"),
        ({"patterns": [7]}, "text"),
        ({"patterns": ["[a].jsonl"]}, "brackets"),
        ({"fileKeys": ["a"] * 101}, "at most 100"),
        ({"fileKeys": ["missing.jsonl"]}, "missing.jsonl"),
        ({"jobId": "mine"}, "jobId"),
        ({"other": 1}, "unknown"),
    ],
)
def test_a_wrong_body_is_refused_with_400(
    lakehouse: Lakehouse, change: dict[str, Any], says: str
) -> None:
    applications.register(lakehouse.runtime.catalog, "old", actor="ann")
    applications.withdraw(lakehouse.runtime.catalog, "old", actor="ann")
    body = {"namespace": "entity_raw", "tableName": "redshift", "patterns": ["a.jsonl"]}
    refused = lakehouse.post(body | change)
    assert refused.status_code == 400
    assert says in refused.json()["detail"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 100_000, b"7"])
def test_a_body_that_is_no_object_is_refused(lakehouse: Lakehouse, body: bytes) -> None:
    assert lakehouse.client.post(URL, content=body, headers=HEADERS).status_code == 400


def test_an_upsert_replaces_the_records_of_its_keys_and_no_others(lakehouse: Lakehouse) -> None:
    old = [record(name) for name in "abc"] + [record("a", typename="column")]
    lakehouse.file("1.jsonl", *old, record("a", connection_qualified_name="other"))
    foreign = record("a", tenant_id="tenant-b")
    lakehouse.load("1.jsonl")
    lakehouse.file("b.jsonl", foreign, tenant="tenant-b")
    body = {"namespace": "entity_raw", "tableName": "redshift", "patterns": ["b.jsonl"]}
    assert lakehouse.post(body, tenant="tenant-b").status_code == 202
    new = [record("a", workflow_run_id="run-2", extracted_at=DAY * 2), record("d")]
    lakehouse.file("2.parquet", *new)
    ended = lakehouse.load("2.parquet", mode="UPSERT")
    assert (ended["status"], ended["rowsLoaded"]) == ("COMPLETED", 2), ended
    kept = [*old[1:], record("a", connection_qualified_name="other"), foreign, *new]
    assert sorted(map(str, lakehouse.rows())) == sorted(map(str, kept))


def test_an_upsert_of_a_key_twice_fails(lakehouse: Lakehouse) -> None:
    lakehouse.file("1.jsonl", record("a"), record("a"))
    ended = lakehouse.load("1.jsonl", mode="UPSERT")
    assert ended["status"] == "FAILED"
    assert "entity_name='a'" in ended["message"]
    assert lakehouse.data_files() == 0


def test_tables_are_made_for_active_applications_only_and_partitioned(lakehouse: Lakehouse) -> None:
    runtime = lakehouse.runtime
    for name in ("snowflake", "old"):
        applications.register(runtime.catalog, name, actor="ann")
    applications.withdraw(runtime.catalog, "old", actor="ann")
    assert ensure_tables(runtime.catalog, runtime.storage) == ["redshift", "snowflake"]
    assert ensure_tables(runtime.catalog, runtime.storage) == []
    assert find_table(runtime.storage, "old") is None
    lakehouse.file("a.jsonl", record("a"), record("b", extracted_at=DAY - 1))
    lakehouse.load("a.jsonl")
    applications.withdraw(runtime.catalog, "redshift", actor="ann")
    table = find_table(runtime.storage, "redshift")
    assert table is not None
    partitions = [task.file.partition for task in table.scan().plan_files()]
    assert sorted(part[1] for part in partitions) == [DAY - 86_400_000, DAY]
    assert {part[0] for part in partitions} == {"table"}
    required = {field.name for field in table.schema().fields if field.required}
    assert required == set(record("a")) - {"entity_name"}
    only = table.scan(row_filter=f"extracted_at >= {DAY}")
    assert (len(list(only.plan_files())), only.to_arrow().num_rows) == (1, 1)


def test_a_load_that_waits_can_be_canceled_and_sent_again(lakehouse: Lakehouse) -> None:
    lakehouse.file("a.jsonl", record("a"))
    job = lakehouse.submit("a.jsonl")
    loads.cancel(lakehouse.runtime.journal, job)
    assert (lakehouse.process(), lakehouse.status(job)["status"]) == (0, "CANCELED")
    assert lakehouse.load("a.jsonl")["status"] == "COMPLETED"
    with pytest.raises(loads.BadLoad):
        loads.cancel(lakehouse.runtime.journal, lakehouse.submit("a.jsonl"))


def test_dictionaries_and_large_strings_of_parquet_are_text(lakehouse: Lakehouse) -> None:
    path = lakehouse.file("a.parquet", record("a"))
    table = pq.read_table(path)
    for index, name in enumerate(table.column_names):
        if name == "typename":
            table = table.set_column(index, name, table[name].dictionary_encode())
        elif name == "raw_record":
            table = table.set_column(index, name, table[name].cast(pa.large_string()))
    pq.write_table(table.drop_columns(["entity_name"]), path)
    assert lakehouse.load("a.parquet")["rowsLoaded"] == 1
    assert lakehouse.rows() == [record("a", entity_name=None)]
