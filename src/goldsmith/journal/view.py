"""Database views with documented columns, for questions people ask often."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from goldsmith.catalog.rows import Row

_POSTGRESQL_SECONDS = "CAST(round(extract(epoch FROM {}), 3) AS double precision)"

#: SQL that differs between the two databases, as functions in capitals that the views use.
_FUNCTIONS: Mapping[str, Mapping[str, str]] = {
    "sqlite": {
        "LASTED": "round((julianday(coalesce({1}, 'now')) - julianday({0})) * 86400.0, 3)",
        "SECONDS_TO": "round((julianday({0}) - julianday('now')) * 86400.0, 3)",
        # Somebody may have typed a time in another format that SQLite accepts.
        "IS_PAST": "(julianday({0}) <= julianday('now'))",
        "KEY": "json_array({all})",
        "HOLDS": "EXISTS (SELECT 1 FROM json_each({0}) WHERE value = {1})",
        "LISTED": "(SELECT group_concat(value, ', ') FROM json_each({0}))",
        "SAYS_FALSE": "(json_extract({0}, '$.{1}') = 0)",
    },
    "postgresql": {
        "LASTED": _POSTGRESQL_SECONDS.format("coalesce({1}, clock_timestamp()) - {0}"),
        "SECONDS_TO": _POSTGRESQL_SECONDS.format("{0} - clock_timestamp()"),
        "IS_PAST": "({0} <= clock_timestamp())",
        "KEY": "'[' || concat_ws(',', {json}) || ']'",
        "HOLDS": "jsonb_exists({0}, {1})",
        "LISTED": "(SELECT string_agg(value, ', ') FROM jsonb_array_elements_text({0}) value)",
        "SAYS_FALSE": "({0} ->> '{1}' = 'false')",
    },
}
_FUNCTION_CALL = re.compile(rf"\b({'|'.join(_FUNCTIONS['sqlite'])})\(([^()]*)\)")


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A documented view over the catalog and the journal."""

    name: str
    purpose: str
    #: Column → its description, in the view's order.
    columns: Mapping[str, str]
    #: A SELECT; it may call the functions of `_FUNCTIONS`.
    select: str

    def sql(self, database: str) -> str:
        """The CREATE VIEW statement for `sqlite` or `postgresql`."""
        functions = _FUNCTIONS[database]

        def translate(found: re.Match[str]) -> str:
            parts = [part.strip() for part in found[2].split(",")]
            as_json = ", ".join(f"to_json({part})::text" for part in parts)
            return functions[found[1]].format(*parts, all=", ".join(parts), json=as_json)

        return f"CREATE VIEW {self.name} AS\n{_FUNCTION_CALL.sub(translate, self.select.strip())}"


def docs(row: type[Row], *names: str) -> dict[str, str]:
    """The descriptions of a table's columns that a view passes on; all if none are named."""
    columns = row.table.by_name
    return {name: columns[name].doc for name in names or columns}
