from __future__ import annotations

from goldsmith.checks.free_names import free_name


def test_a_helper_column_has_a_name_that_no_column_has_in_any_case() -> None:
    assert free_name("rank", ["id", "_rank"]) == "_goldsmith_rank"
    assert free_name("rank", ["_GOLDSMITH_Rank", "_goldsmith_rank_"]) == "_goldsmith_rank__"
