"""Speed of the digest: statements and log lines per CPU second, and statements that grow large.

sqlglot's own `lineage` runs beside it on the same statements, one call for each output column.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import yaml
from sqlglot import exp, parse_one
from sqlglot.lineage import lineage

from goldsmith.digest.digest import digest
from goldsmith.digest.logs import LogReader, LogRecord

CASES = Path(__file__).resolve().parents[1] / "tests" / "cases" / "digest"


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def chain(count: int, step: str) -> str:
    parts = ["c0 AS (SELECT a, b FROM t)"]
    parts += [f"c{i} AS ({step.format(before=i - 1)})" for i in range(1, count)]
    return f"WITH {', '.join(parts)} SELECT * FROM c{count - 1}"


LARGE = {
    "24-level CTE diamond": chain(
        25, "SELECT x.a, y.b FROM c{before} x JOIN c{before} y ON x.a = y.a"
    ),
    "200-CTE chain": chain(200, "SELECT a, b + 1 AS b FROM c{before}"),
    "500-branch UNION": " UNION ALL ".join(f"SELECT a, b, c FROM t{i}" for i in range(500)),
    "20,000 VALUES rows": "INSERT INTO t (a, b) VALUES "
    + ", ".join(f"({i}, 'x{i}')" for i in range(20_000)),
    "2,000 columns": f"SELECT {', '.join(f'a{i} + b{i} AS c{i}' for i in range(2000))} FROM s",
}


def by_sqlglot(sql: str, dialect: str) -> None:
    try:
        tree = parse_one(sql, dialect=None if dialect == "ansi" else dialect)
        query = tree if isinstance(tree, exp.Query) else tree.find(exp.Query)
        for name in query.named_selects if isinstance(query, exp.Query) else ():
            lineage(name, query, schema={})
    except Exception:  # counted as an answer: it refuses DML and unknown columns
        return


def main() -> None:
    cases = [
        (case["sql"], dialect)
        for file in sorted(CASES.glob("*.yaml"))
        for case in yaml.safe_load(file.read_text("utf-8"))
        for dialect in case["dialects"]
    ]
    for _ in range(2):  # the first round loads sqlglot's dialects
        ours = cpu(lambda: [digest(sql, dialect=dialect) for sql, dialect in cases])
        theirs = cpu(lambda: [by_sqlglot(sql, dialect) for sql, dialect in cases])
    print(
        f"statements per CPU second: {len(cases) / ours:,.0f} (sqlglot: {len(cases) / theirs:,.0f})"
    )
    shapes = [
        f"INSERT INTO mart.t{i} SELECT a.id, b.total, CASE WHEN b.total > 1 THEN 'big' END AS size "
        f"FROM stage.a{i} a JOIN stage.b b ON a.id = b.id WHERE a.day = '2026-01-01'"
        + " AND b.k > 5 AND a.y < 10"
        * 14
        for i in range(500)
    ]
    reader = LogReader("snowflake")
    lines = 50_000
    spent = cpu(lambda: [reader.read(LogRecord(shapes[i % 500], i)) for i in range(lines)])
    print(f"log lines per CPU second, 500 shapes: {lines / spent:,.0f}")
    for name, sql in LARGE.items():
        print(f"{name}: {cpu(lambda: digest(sql)):.2f} s")  # noqa: B023 (called at once)


if __name__ == "__main__":
    main()
