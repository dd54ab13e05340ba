"""One value as somebody wrote it, in TOML or in an environment variable, made into its type."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from goldsmith.errors import nearest
from goldsmith.settings.sections import Kind, Spec, sqlite_file

#: How a reference to a secret begins; `credentials.py` looks them up, and a test holds them equal.
_REFERENCE = re.compile(r"(?:env|file|aws-secret):.")
#: A password between `//user:` and `@`, or a token or password among the parameters.
_PASSWORD_IN_URL = re.compile(
    r"(?P<before>://[^/?#@\s:]*:|[?&;](?:sslpassword|password|token|secret)=)"
    r"(?P<secret>(?<=:)[^/?#@\s]+(?=@)|(?<==)[^&;\s]+)",
    re.IGNORECASE,
)
_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def of_toml(value: object, spec: Spec, project: Path) -> Any:
    """The typed value of what a TOML file says; a ValueError has the reason."""
    match spec.kind:
        case Kind.FLAG:
            if not isinstance(value, bool):
                raise ValueError(f"must be true or false, not {_short(value)}")
            return value
        case Kind.WHOLE:
            if not isinstance(value, int) or isinstance(value, bool):
                raise ValueError(f"must be a whole number, not {_short(value)}")
            return value
        case Kind.TABLE:
            if not isinstance(value, Mapping):
                raise ValueError(f"must be a table, not {_short(value)}")
            return dict(flat(value))
        case Kind.SECRET if not isinstance(value, str):
            raise ValueError("must be a reference: env:NAME, file:PATH or aws-secret:ARN")
        case _ if not isinstance(value, str):
            raise ValueError(f"must be text in quotes, not {_short(value)}")
    if spec.kind is Kind.URL and _PASSWORD_IN_URL.search(value):
        raise ValueError(
            "has a password in it, and this file is for everybody to read; "
            "leave it out and say the password as a reference: env:NAME, file:PATH"
        )
    return _of_text(value, spec, project)


def of_variable(text: str, spec: Spec, project: Path) -> Any:
    """The typed value of what an environment variable says; a ValueError has the reason."""
    match spec.kind:
        case Kind.FLAG:
            if text.lower() not in _FLAGS:
                raise ValueError(f"must be true or false, not {_short(text)}")
            return _FLAGS[text.lower()]
        case Kind.WHOLE:
            if not re.fullmatch(r"-?[0-9]{1,18}", text):
                raise ValueError(f"must be a whole number, not {_short(text)}")
            return int(text)
        case Kind.TABLE:
            return _of_json(text)
    return _of_text(text, spec, project)


def _of_text(text: str, spec: Spec, project: Path) -> Any:
    if spec.words is not None:
        words = [word.value for word in spec.words]
        if text not in words:
            guess = nearest(text, words)
            meant = f"; did you mean '{guess}'?" if guess else ""
            raise ValueError(f"must be one of {', '.join(words)}, not {_short(text)}{meant}")
        return spec.words(text)
    if not text.strip():
        raise ValueError("is empty")
    match spec.kind:
        case Kind.PATH:
            return absolute(text, project)
        case Kind.ADDRESS:
            if "://" in text and not text.startswith("s3://"):
                raise ValueError(f"must be an s3:// address or a path, not {_short(text)}")
            return text if "://" in text else str(absolute(text, project))
        case Kind.URL:
            return _sqlite_of_project(text, project)
        case Kind.SECRET:
            return _reference(text, project)
    return text


def _sqlite_of_project(url: str, project: Path) -> str:
    """SQLite's relative files are the project's too, wherever the process stands."""
    file = sqlite_file(url)
    if file is None or file.is_absolute():
        return url
    scheme, _, rest = url.partition(":///")
    _, mark, options = rest.partition("?")
    return f"{scheme}:///{absolute(str(file), project)}{mark}{options}"


def _reference(text: str, project: Path) -> str:
    # What was written instead may be the secret itself: it is never repeated.
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
    """A free table as texts: TOML reads `spark.sql.x = 4` as tables within tables."""
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
    """A path as the project means it."""
    # abspath and not resolve: what people see is the path they wrote, links included.
    return Path(os.path.abspath(project / Path(path).expanduser()))


def without_password(text: str) -> str:
    """An address that can be shown."""
    return _PASSWORD_IN_URL.sub(lambda match: match["before"] + "•••", text)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"
