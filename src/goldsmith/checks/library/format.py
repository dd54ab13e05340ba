"""The column's text has a well-known format.

`format` is uuid, email, url, iso_date, iso_datetime, json, ipv4, ipv6, e164, date (in one of the
usual spellings) or a strftime format such as `%Y-%m-%d`. A date must be a day that exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import row_check
from goldsmith.checks.field import Plain
from goldsmith.checks.formats import has_form

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} is not in the format {format}")
def format(column: Plain, format: str) -> Column:
    return ~has_form(column.text, format)
