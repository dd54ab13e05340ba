"""The SQL dialects a digest reads: their names, and what each does with names and defaults."""

from __future__ import annotations

from dataclasses import dataclass

from goldsmith.errors import GoldsmithError

#: Other spellings and relatives of a dialect, as sqlglot calls it; "" is its generic dialect.
ALIASES = {
    "": "",
    "ansi": "",
    "generic": "",
    "sql": "",
    "db2": "",
    "non-validating": "",
    "sparksql": "spark",
    "spark2": "spark",
    "spark3": "spark",
    "pyspark": "spark",
    "delta": "databricks",
    "unity-catalog": "databricks",
    "mssql": "tsql",
    "sqlserver": "tsql",
    "fabric": "tsql",
    "synapse": "tsql",
    "ms": "tsql",
    "postgresql": "postgres",
    "greenplum": "postgres",
    "vertica": "postgres",
    "materialize": "postgres",
    "cockroach": "postgres",
    "mariadb": "mysql",
    "athena": "trino",
    "presto": "trino",
    "soql": "",
    "impala": "hive",
    "bigquery": "bigquery",
}
#: Dialects read as themselves.
NAMED = (
    "bigquery",
    "clickhouse",
    "databricks",
    "dremio",
    "drill",
    "duckdb",
    "exasol",
    "hive",
    "mysql",
    "oracle",
    "postgres",
    "redshift",
    "snowflake",
    "spark",
    "sqlite",
    "starrocks",
    "teradata",
    "trino",
    "tsql",
)
#: Databases whose tables have two name parts.
TWO_LEVELS = frozenset(("hive", "mysql", "clickhouse", "teradata", "sqlite"))
#: Dialects tried when a dialect's own grammar refuses a statement.
RELATED = {
    "": ("postgres", "snowflake", "spark", "tsql", "mysql", "bigquery"),
    "redshift": ("postgres", "", "snowflake"),
    "postgres": ("redshift", "", "snowflake", "duckdb"),
    "spark": ("databricks", "hive", "", "snowflake"),
    "databricks": ("spark", "", "snowflake"),
    "hive": ("spark", "", "databricks"),
    "snowflake": ("", "postgres", "databricks"),
    "bigquery": ("", "snowflake", "spark"),
    "mysql": ("", "postgres"),
    "tsql": ("", "snowflake", "postgres"),
    "trino": ("", "spark", "hive", "postgres"),
    "oracle": ("", "postgres", "tsql"),
    "duckdb": ("postgres", "", "snowflake"),
}


@dataclass(eq=False, kw_only=True)
class UnknownDialect(GoldsmithError):
    """A dialect was named that the digest does not know."""

    dialect: str

    def __str__(self) -> str:
        return f"The SQL dialect '{self.dialect}' is not known."

    @property
    def hint(self) -> str:
        return f"Known dialects: ansi, {', '.join(NAMED)}."


def dialect_name(name: str | None) -> str:
    """sqlglot's name of a dialect; raises for an unknown name."""
    lower = (name or "").strip().lower()
    found = ALIASES.get(lower, lower)
    if found and found not in NAMED:
        raise UnknownDialect(dialect=name or "")
    return found
