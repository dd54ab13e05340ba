"""Well-known text formats: identifiers, addresses, dates, and strftime formats."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goldsmith.checks.errors import BadCheck

if TYPE_CHECKING:
    from pyspark.sql import Column

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = rf"(?:{_OCTET}\.){{3}}{_OCTET}"
_H16 = r"[0-9A-Fa-f]{1,4}"
_LS32 = rf"(?:{_H16}:{_H16}|{_IPV4})"
#: RFC 3986: before and after `::` there are at most seven groups together.
_IPV6 = "|".join(
    [
        rf"(?:{_H16}:){{6}}{_LS32}",
        rf"::(?:{_H16}:){{5}}{_LS32}",
        *(
            rf"(?:(?:{_H16}:){{0,{left}}}{_H16})?::(?:{_H16}:){{{4 - left}}}{_LS32}"
            for left in range(5)
        ),
        rf"(?:(?:{_H16}:){{0,5}}{_H16})?::{_H16}",
        rf"(?:(?:{_H16}:){{0,6}}{_H16})?::",
    ]
)
_DAY = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[+-][01]\d:?[0-5]\d)?"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"

#: Formats that a regular expression describes; it must match the whole text.
PATTERNS = {
    "uuid": r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
    "email": rf"[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]+@{_LABEL}(?:\.{_LABEL})+",
    "url": rf"(?i:https?|ftp)://(?:[^\s/?#@]+@)?(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]+\])"
    r"(?::\d{1,5})?(?:[/?#]\S*)?",
    "iso_date": _DAY,
    "iso_datetime": rf"{_DAY}[T ]{_CLOCK}",
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "e164": r"\+[1-9]\d{1,14}",
}
#: The texts Python's strptime accepts for each directive.
_DIRECTIVES = {
    "d": r"(?<d>3[01]|[12]\d|0[1-9]|[1-9])",
    "m": r"(?<m>1[0-2]|0[1-9]|[1-9])",
    "Y": r"(?<Y>\d{4})",
    "y": r"(?<y>\d{2})",
    "H": r"(?:2[0-3]|[01]\d|\d)",
    "I": r"(?:1[0-2]|0[1-9]|[1-9])",
    "M": r"(?:[0-5]\d|\d)",
    "S": r"(?:6[01]|[0-5]\d|\d)",
    "f": r"\d{1,6}",
    "j": r"(?:36[0-6]|3[0-5]\d|[12]\d\d|0[1-9]\d|00[1-9]|[1-9]\d|0[1-9]|[1-9])",
    "p": r"(?:am|pm)",
    "b": r"(?<b>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    "B": r"(?<b>january|february|march|april|may|june|july|august|september|october|november"
    r"|december)",
    "a": r"(?:mon|tue|wed|thu|fri|sat|sun)",
    "A": r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)",
    "z": r"(?:[+-]\d\d:?[0-5]\d(?::?[0-5]\d(?:\.\d{1,6})?)?|Z)",
    "Z": r"(?:utc|gmt)",
    "%": "%",
}
_SHORTHANDS = {"%T": "%H:%M:%S", "%F": "%Y-%m-%d", "%D": "%m/%d/%y", "%R": "%H:%M"}
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
#: Usual spellings of dates, besides the ISO ones that Spark reads itself.
_USUAL = (
    r"\d{8}",
    r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}",
    r"\d{4}[/.-]\d{1,2}[/.-]\d{1,2}"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|[+-]\d\d:?\d\d)?)?",
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?\d{1,2}(?:st|nd|rd|th)?[\s-]+"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*,?[\s-]+\d{2,4}",
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2}(?:st|nd|rd|th)?"
    r"(?:,?\s+\d{4})?",
    r"\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]m)?",
)


def has_form(text: Column, form: str) -> Column:
    """The text has that format."""
    from pyspark.sql import functions as F

    if "%" in form:
        return _written_by(text, form)
    if form == "json":
        # The JSON document `null` is valid JSON; an SQL NULL means that parsing failed.
        return F.try_parse_json(text).isNotNull()
    if form == "date":
        usual = text.rlike(f"(?i)^(?:{'|'.join(_USUAL)})$")
        return usual | F.try_to_timestamp(text).isNotNull()
    if form not in PATTERNS:
        known = ", ".join((*PATTERNS, "json", "date", "a strftime format"))
        problem = f"knows no format '{form}'"
        raise BadCheck(check="format", problems=(problem,), usage=f"column, format ({known})")
    found = text.rlike(f"^(?:{PATTERNS[form]})$")
    if form in ("iso_date", "iso_datetime"):
        return found & F.try_to_date(F.substring(text, 1, 10), "yyyy-MM-dd").isNotNull()
    return found


def strftime_pattern(form: str) -> str:
    """A strftime format as a Java regular expression."""
    for short, long in _SHORTHANDS.items():
        form = form.replace(short, long)
    written = ""
    parts = re.split(r"(%.)", form)
    for part in parts:
        if re.fullmatch(r"%.", part):
            if part[1] not in _DIRECTIVES:
                problem = f"does not know {part} of the format '{form}'"
                raise BadCheck(check="format", problems=(problem,), usage="column, format")
            written += _DIRECTIVES[part[1]]
        else:
            # As in strptime, one space matches any number of spaces.
            written += re.sub(r"(?:\\?\s)+", r"\\s+", re.escape(part))
    return written


def _written_by(text: Column, form: str) -> Column:
    """strptime would accept the text: every part is there, and the day exists."""
    from pyspark.sql import functions as F

    pattern = f"(?i)^{strftime_pattern(form)}$"
    found = text.rlike(pattern)
    groups = re.findall(r"\(\?<(\w)>", pattern)
    if "d" not in groups or not {"m", "b"} & set(groups):
        return found

    def part(name: str) -> Column:
        return F.regexp_extract(text, pattern, groups.index(name) + 1)

    if "m" in groups:
        month = F.lpad(part("m"), 2, "0")
    else:
        short = F.initcap(F.substring(part("b"), 1, 3))
        number = (F.instr(F.lit(_MONTHS), short) + F.lit(2)) / F.lit(3)
        month = F.lpad(number.cast("int").cast("string"), 2, "0")
    year = part("Y") if "Y" in groups else F.lit("1904")
    if "y" in groups and "Y" not in groups:
        year = F.concat(F.lit("20"), part("y"))
    day = F.concat_ws("-", year, month, F.lpad(part("d"), 2, "0"))
    return found & F.try_to_date(day, "yyyy-MM-dd").isNotNull()
