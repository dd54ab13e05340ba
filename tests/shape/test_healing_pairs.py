"""Every pair that is shipped is shown at work on its real error, by a test that is named here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from goldsmith.catalog.defaults import shipped
from goldsmith.catalog.retries import HealingAction, HealingStep

TESTS = Path(__file__).parents[1]
_HERE = "spark/engine/test_healing.py"
_SOURCES = "spark/engine/test_heal_sources.py"
_DATA = "spark/engine/test_heal_data.py"
_MEMORY = "spark/engine/test_heal_memory.py"
_WAREHOUSE = "spark/engine/test_heal_warehouse.py"
_SPARK = "stories/test_healing_spark.py"

#: error code → remedy → the file of its test and the test.
SHOWN: dict[str, dict[str, tuple[str, str]]] = {
    "SourceUnreachable": {
        "reroute": (_SOURCES, "test_a_killed_s3_server_is_gone_round"),
        "retry_later": (_SOURCES, "test_a_killed_s3_server_is_waited_for"),
    },
    "SourceThrottled": dict.fromkeys(
        ("slow_down", "retry_later"),
        (_SOURCES, "test_an_s3_that_asks_to_slow_down_is_asked_less_and_later"),
    ),
    "FileVanished": {
        "reread_files": (_HERE, "test_a_file_that_vanished_is_left_out_by_listing_anew")
    },
    "FileTruncated": dict.fromkeys(
        ("retry_later", "quarantine_files"),
        (_HERE, "test_a_truncated_file_is_set_aside_until_it_is_written_anew"),
    ),
    "FileUnreadable": {
        "quarantine_files": (
            _SOURCES,
            "test_a_file_nobody_can_read_is_set_aside_until_it_is_written_anew",
        )
    },
    "FileDoesNotFit": {
        "quarantine_files": (
            _SOURCES,
            "test_a_file_in_another_type_is_set_aside_until_it_is_written_anew",
        )
    },
    "RecordMalformed": {
        "quarantine_rows": (_HERE, "test_records_that_stop_a_stage_are_quarantined"),
        "quarantine_files": (
            _SOURCES,
            "test_a_file_of_records_the_parser_cannot_even_keep_is_set_aside",
        ),
    },
    "SchemaMismatch": {
        "evolve_schema": (_HERE, "test_a_new_column_evolves_a_target_whose_stage_allows_it"),
        "open_incident": (_HERE, "test_a_frozen_target_stays_as_it_is_and_opens_an_incident"),
    },
    "DuplicateRows": {
        "deduplicate": (_HERE, "test_a_duplicate_that_the_warehouse_refuses_is_taken_out"),
        "open_incident": (_DATA, "test_duplicates_without_a_key_are_left_to_a_person"),
    },
    "CheckFailed": {
        "quarantine_rows": (_DATA, "test_rows_that_break_a_check_are_quarantined"),
        "skip_optional": (_HERE, "test_an_optional_stage_is_left_out_and_the_rest_goes_on"),
        "open_incident": (_DATA, "test_a_check_no_row_is_to_blame_for_is_left_to_a_person"),
    },
    "ExecutorOutOfMemory": {
        "smaller_batches": (_MEMORY, "test_tasks_without_memory_read_fewer_files_at_once"),
        "more_partitions": (
            _MEMORY,
            "test_tasks_without_memory_that_must_read_everything_are_made_smaller",
        ),
        "open_incident": (_MEMORY, "test_a_row_too_large_for_any_task_is_left_to_a_person"),
    },
    "DriverOutOfMemory": {
        **dict.fromkeys(
            ("new_session", "smaller_batches"),
            (_MEMORY, "test_a_full_driver_is_started_anew_and_then_given_less"),
        ),
        "open_incident": (_MEMORY, "test_work_too_large_for_any_driver_is_left_to_a_person"),
    },
    "PythonWorkerOutOfMemory": {
        **dict.fromkeys(
            ("smaller_batches", "more_partitions"),
            (_MEMORY, "test_a_python_worker_without_memory_gets_smaller_batches"),
        ),
        "open_incident": (
            _MEMORY,
            "test_a_row_too_large_for_a_python_worker_is_left_to_a_person",
        ),
    },
    "PythonWorkerLost": dict.fromkeys(
        ("retry_later", "more_partitions"),
        (
            _MEMORY,
            "test_a_python_worker_that_is_killed_is_tried_again_and_then_gets_smaller_batches",
        ),
    ),
    "ContainerKilled": dict.fromkeys(
        ("more_partitions", "retry_later"),
        (_MEMORY, "test_a_container_that_is_killed_is_given_smaller_work_and_then_more_time"),
    ),
    "BroadcastTooLarge": dict.fromkeys(
        ("more_partitions", "open_incident"),
        (_MEMORY, "test_a_broadcast_that_is_too_large_is_shuffled_unless_the_sql_forces_it"),
    ),
    "ResultTooLarge": dict.fromkeys(
        ("smaller_batches", "open_incident"),
        (
            _MEMORY,
            "test_a_result_too_large_for_the_driver_stays_with_the_tasks_unless_the_sql_forces_it",
        ),
    ),
    "DiskFull": {
        "spill_less": (_DATA, "test_a_full_disk_is_healed_by_using_less_of_it"),
        "open_incident": (
            _DATA,
            "test_a_disk_that_is_too_small_for_anything_is_left_to_a_person",
        ),
    },
    "ShuffleLost": dict.fromkeys(
        ("retry_later", "more_partitions"),
        (_SPARK, "test_a_shuffle_that_is_lost_is_tried_again_and_then_in_smaller_pieces"),
    ),
    "ExecutorLost": {"retry_later": (_SPARK, "test_an_executor_that_is_killed_is_done_without")},
    "SparkLost": {"new_session": (_SPARK, "test_a_spark_that_is_killed_is_started_anew")},
    "CredentialsExpired": {
        "refresh_credentials": (_SOURCES, "test_an_expired_token_is_looked_up_again"),
        "open_incident": (_SOURCES, "test_a_token_that_nobody_renews_is_left_to_a_person"),
    },
    "CommitConflict": {"plan_again": (_HERE, "test_a_lost_race_is_planned_again")},
    "BranchBroken": {"rebuild_branch": (_DATA, "test_a_branch_somebody_dropped_is_made_anew")},
    "TableBroken": {
        "roll_back": (_HERE, "test_a_table_somebody_broke_goes_back_to_what_was_published"),
        "open_incident": (
            _DATA,
            "test_a_table_that_lost_what_was_published_is_left_to_a_person",
        ),
    },
    "SerializationConflict": {
        "serialise_on_target": (
            _WAREHOUSE,
            "test_a_serialisation_conflict_is_healed_by_coming_one_after_the_other",
        )
    },
    "Deadlock": {
        "serialise_on_target": (
            _WAREHOUSE,
            "test_a_deadlock_is_healed_by_coming_one_after_the_other",
        )
    },
    "LockTimeout": {
        "wait_for_lock": (
            _WAREHOUSE,
            "test_a_lock_is_waited_for_and_its_holder_ended_where_the_row_says_so",
        )
    },
    "WarehouseBusy": {
        "wait_for_warehouse": (_WAREHOUSE, "test_a_warehouse_without_room_is_waited_for")
    },
    "TooManyConnections": {
        "wait_for_warehouse": (_WAREHOUSE, "test_a_place_among_the_connections_is_waited_for")
    },
    "WarehouseOutOfMemory": dict.fromkeys(
        ("wait_for_warehouse", "smaller_batches"),
        (
            _WAREHOUSE,
            "test_a_load_too_large_for_the_warehouse_is_waited_with_and_then_made_smaller",
        ),
    ),
    "WarehouseReadOnly": {
        "wait_for_warehouse": (_WAREHOUSE, "test_a_standby_is_waited_for_until_it_takes_writes")
    },
    "WarehouseUnreachable": {
        "retry_later": (_WAREHOUSE, "test_a_warehouse_that_is_gone_is_waited_for")
    },
    "StageTimeout": {
        "smaller_batches": (_DATA, "test_too_much_for_the_time_of_a_stage_is_read_in_parts"),
        "open_incident": (
            _DATA,
            "test_a_stage_that_never_ends_in_its_time_is_left_to_a_person",
        ),
    },
    "WorkerLost": {"retry_later": (_SPARK, "test_a_worker_that_is_killed_is_taken_over_from")},
    "Unclassified": dict.fromkeys(
        ("skip_optional", "open_incident"),
        (_DATA, "test_an_error_nobody_knows_is_gone_without_or_left_to_a_person"),
    ),
}


def test_every_shipped_pair_is_shown_at_work() -> None:
    rows = [row for row in shipped() if isinstance(row, HealingAction | HealingStep)]
    pairs = {(row.error_code, row.action_script) for row in rows}
    assert {(code, remedy) for code, tests in SHOWN.items() for remedy in tests} == pairs


@pytest.mark.parametrize("code", SHOWN)
def test_what_shows_a_pair_speaks_of_it(code: str) -> None:
    for remedy, (file, name) in SHOWN[code].items():
        text = (TESTS / file).read_text("utf-8")
        found = [
            node
            for node in ast.parse(text).body
            if isinstance(node, ast.FunctionDef) and node.name == name
        ]
        assert found, f"{file} has no test called {name}"
        decorators = [
            ast.get_source_segment(text, decorator) or "" for decorator in found[0].decorator_list
        ]
        source = "".join([*decorators, ast.get_source_segment(text, found[0]) or ""])
        assert remedy in source, f"{name} does not speak of {remedy}"
