"""A view: a question people ask often, as a table with documented columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from goldsmith.catalog.rows import Row

_POSTGRESQL_SECONDS = "CAST(round(extract(epoch FROM {}), 3) AS double precision)"

#: What the two databases say differently, as words in capitals that the views' SQL uses.
_WORDS: Mapping[str, Mapping[str, str]] = {
    "sqlite": {
        "LASTED": "round((julianday(coalesce({1}, 'now')) - julianday({0})) * 86400.0, 3)",
        "SECONDS_TO": "round((julianday({0}) - julianday('now')) * 86400.0, 3)",
        # Somebody may have typed a time in another of SQLite's spellings.
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
_WORD = re.compile(rf"\b({'|'.join(_WORDS['sqlite'])})\(([^()]*)\)")


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A documented view over the catalog and the journal."""

    name: str
    purpose: str
    #: Column → what it means, in the view's order.
    columns: Mapping[str, str]
    #: A SELECT; words in capitals with brackets stand for what the databases say differently.
    select: str

    def sql(self, database: str) -> str:
        """The statement that makes it, on `sqlite` or `postgresql`."""
        words = _WORDS[database]

        def said(found: re.Match[str]) -> str:
            parts = [part.strip() for part in found[2].split(",")]
            as_json = ", ".join(f"to_json({part})::text" for part in parts)
            return words[found[1]].format(*parts, all=", ".join(parts), json=as_json)

        return f"CREATE VIEW {self.name} AS\n{_WORD.sub(said, self.select.strip())}"


def docs(row: type[Row], *names: str) -> dict[str, str]:
    """What a table says of columns a view passes on; all of them where none are named."""
    columns = row.table.by_name
    return {name: columns[name].doc for name in names or columns}
