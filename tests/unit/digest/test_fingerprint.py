"""Statements with one fingerprint have one answer; those that may have another keep their text."""

from __future__ import annotations

import pytest

from goldsmith.digest.fingerprint import fingerprint
from goldsmith.digest.logs import LogReader, LogRecord


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("select a from t where d = 'x'", "select a from t where d = 'it''s'"),
        ("select a from t where d in (1, 2)", "select a from t where d in (3, 4, 5)"),
        ("insert into t values (1, 'a')", "insert into t values (2, 'b'), (3, 'c')"),
        ("select a from t -- one", "select a from t /* two */"),
    ],
)
def test_literals_lists_rows_and_comments_do_not_count(left: str, right: str) -> None:
    assert fingerprint(left) == fingerprint(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(
            "EXECUTE IMMEDIATE 'insert into t select a from b'",
            "EXECUTE IMMEDIATE 'insert into u select a from c'",
            id="dynamic SQL",
        ),
        pytest.param(
            "EXEC('insert into t select a from b')",
            "EXEC('insert into u select a from c')",
            id="dynamic SQL of T-SQL",
        ),
        pytest.param(
            "select * from t pivot (sum(v) for k in ('a', 'b'))",
            "select * from t pivot (sum(v) for k in ('c', 'd'))",
            id="columns of a pivot",
        ),
        pytest.param(
            """select "it's" from a where x = 'y'""",
            """select "it's" from b where x = 'y'""",
            id="an apostrophe in a quoted name",
        ),
        pytest.param(
            r"select '\' as x from a where y = 'z'",
            r"select '\' as x from b where y = 'z'",
            id="a backslash that ends a string",
        ),
        pytest.param(
            "select a -- it's\n from a where x = 'y'",
            "select a -- it's\n from b where x = 'y'",
            id="an apostrophe in a comment",
        ),
        pytest.param(
            "# it's\nselect a from a where x = 'y'",
            "# it's\nselect a from b where x = 'y'",
            id="an apostrophe in a comment of MySQL",
        ),
        pytest.param(
            "copy t from 's3://a/x/'", "copy t from 's3://a/y/'", id="a path is part of the shape"
        ),
        pytest.param("select [a 1] from t", "select [a 2] from t", id="digits in a quoted name"),
    ],
)
def test_statements_with_other_answers_have_other_fingerprints(left: str, right: str) -> None:
    assert fingerprint(left) != fingerprint(right)


def test_a_log_of_dynamic_statements_gives_each_its_own_tables() -> None:
    reader = LogReader("snowflake")
    queries = [f"EXECUTE IMMEDIATE 'insert into {t} select a from {s}'" for t, s in ("tb", "uc")]
    found = [reader.read(LogRecord(query, line))[0] for line, query in enumerate(queries, 1)]
    assert [(digest.upstream, digest.downstream) for digest in found] == [
        (["b"], ["t"]),
        (["c"], ["u"]),
    ]
