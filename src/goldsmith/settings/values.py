"""Convert one value of goldsmith.toml or of an environment variable to its type."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from goldsmith.errors import nearest
from goldsmith.settings.sections import SettingKind, SettingSpec, sqlite_file

#: The start of a secret reference; `credentials.py` resolves them, and a test compares the two.
_REFERENCE = re.compile(r"(?:env|file|aws-secret):.")
#: A password between `//user:` (or a first `user:`) and the last `@`, or a token or password
#: among the parameters.
#: Slashes, question marks and more `@` may be part of a password that is not URL-encoded.
_PASSWORD_IN_URL = re.compile(
    r"(?P<before>\b[a-z][a-z0-9+.-]*:/{0,2}[^/?#@\s:]*:"
    r"|(?<![^\s'\"])[^/?#@\s:'\"]+:(?!/)"
    r"|[?&;](?:token|secret)=|(?:password|passwd|pwd)(?:\s*=\s*|%3d))"
    r"(?P<secret>(?<=:)\S+(?=@)|(?<=[=d\s])[^&;\s]+)",
    re.IGNORECASE,
)
#: Shorter parts of a password also occur in ordinary words.
_LEAST_PART = 3
_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def of_toml(value: object, spec: SettingSpec, project: Path) -> Any:
    """The typed value of a TOML value; raises ValueError with the reason."""
    match spec.kind:
        case SettingKind.FLAG:
            if not isinstance(value, bool):
                raise ValueError(f"must be true or false, not {_short(value)}")
            return value
        case SettingKind.WHOLE:
            if not isinstance(value, int) or isinstance(value, bool):
                raise ValueError(f"must be a whole number, not {_short(value)}")
            return value
        case SettingKind.TABLE:
            if not isinstance(value, Mapping):
                raise ValueError(f"must be a table, not {_short(value)}")
            return dict(flat(value))
        case SettingKind.SECRET if not isinstance(value, str):
            raise ValueError("must be a reference: env:NAME, file:PATH or aws-secret:ARN")
        case _ if not isinstance(value, str):
            raise ValueError(f"must be text in quotes, not {_short(value)}")
    if spec.kind is SettingKind.URL and _PASSWORD_IN_URL.search(value):
        raise ValueError(
            "has a password in it, and this file is for everybody to read; "
            "leave it out and say the password as a reference: env:NAME, file:PATH"
        )
    return _of_text(value, spec, project)


def of_variable(text: str, spec: SettingSpec, project: Path) -> Any:
    """The typed value of an environment variable; raises ValueError with the reason."""
    match spec.kind:
        case SettingKind.FLAG:
            if text.lower() not in _FLAGS:
                raise ValueError(f"must be true or false, not {_short(text)}")
            return _FLAGS[text.lower()]
        case SettingKind.WHOLE:
            if not re.fullmatch(r"-?[0-9]{1,18}", text):
                raise ValueError(f"must be a whole number, not {_short(text)}")
            return int(text)
        case SettingKind.TABLE:
            return _of_json(text)
    return _of_text(text, spec, project)


def _of_text(text: str, spec: SettingSpec, project: Path) -> Any:
    if spec.choices is not None:
        known = [choice.value for choice in spec.choices]
        if text not in known:
            raise ValueError(_not_one_of(text, known))
        return spec.choices(text)
    if spec.plugins is not None:
        if text not in spec.plugins:
            raise ValueError(_not_one_of(text, spec.plugins.names()))
        return text
    if not text.strip():
        raise ValueError("is empty")
    match spec.kind:
        case SettingKind.PATH:
            return absolute(text, project)
        case SettingKind.ADDRESS:
            if "://" in text and not text.startswith("s3://"):
                raise ValueError(f"must be an s3:// address or a path, not {_short(text)}")
            return text if "://" in text else str(absolute(text, project))
        case SettingKind.URL:
            return _sqlite_of_project(text, project)
        case SettingKind.SECRET:
            return _reference(text, project)
    return text


def _not_one_of(text: str, known: Sequence[str]) -> str:
    guess = nearest(text, known)
    meant = f"; did you mean '{guess}'?" if guess else ""
    return f"must be one of {', '.join(known)}, not {_short(text)}{meant}"


def _sqlite_of_project(url: str, project: Path) -> str:
    """Make a relative SQLite file relative to the project, not to the working directory."""
    file = sqlite_file(url)
    if file is None or file.is_absolute():
        return url
    scheme, _, rest = url.partition(":///")
    _, mark, options = rest.partition("?")
    return f"{scheme}:///{absolute(str(file), project)}{mark}{options}"


def _reference(text: str, project: Path) -> str:
    # The text may be the secret itself: the message must not repeat it.
    if not _REFERENCE.match(text):
        raise ValueError(
            "is a secret in plain text; write a reference: env:NAME, file:PATH or aws-secret:ARN"
        )
    scheme, _, path = text.partition(":")
    return f"file:{absolute(path, project)}" if scheme == "file" else text


def _of_json(text: str) -> dict[str, str]:
    import json

    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict):
        raise ValueError('must be a JSON object: {"name": "value"}')
    return dict(flat(table))


def flat(table: Mapping[str, object], at: str = "") -> Iterator[tuple[str, str]]:
    """A free table with dotted names: TOML reads `spark.sql.x = 4` as nested tables."""
    for key, value in table.items():
        name = f"{at}.{key}" if at else key
        match value:
            case Mapping():
                yield from flat(value, name)
            case bool():
                yield name, str(value).lower()
            case str() | int() | float():
                yield name, str(value)
            case _:
                raise ValueError(f"must hold texts and numbers; '{name}' is {_short(value)}")


def absolute(path: str, project: Path) -> Path:
    """An absolute path; a relative one starts at the project."""
    # abspath and not resolve: messages show the path people wrote, links included.
    return Path(os.path.abspath(project / Path(path).expanduser()))


def without_password(text: str, url: str = "") -> str:
    """The text without passwords in its URLs, and without the password of `url`.

    A driver that cannot parse a URL quotes parts of it, and takes a part of the password for the
    host or the port.
    """
    passwords = {match["secret"] for match in _PASSWORD_IN_URL.finditer(url)}
    parts = {part for found in passwords for part in re.split(r"[@:/?#&]", found)}
    for part in sorted(passwords | parts | {unquote(part) for part in parts}, key=len)[::-1]:
        if len(part) >= _LEAST_PART:
            text = text.replace(part, "•••")
    return _PASSWORD_IN_URL.sub(lambda match: match["before"] + "•••", text)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"
