"""Resolve secrets by reference (`env:NAME`, `file:PATH`, `aws-secret:ARN`) when they are used.

A resolved value is never stored and never logged; it is shown as three dots.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from goldsmith.errors import GoldsmithError, one_of

#: The schemes of a reference.
SCHEMES = ("env", "file", "aws-secret")
HIDDEN = "•••"

#: A longer file is no secret; a device may never end.
_MOST_BYTES = 64 * 1024
#: Shorter values occur in ordinary words; redacting them would redact everything.
_LEAST_TO_REDACT = 4
_NAME_PARTS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")
_SECRET_NAME = re.compile(
    r"(^|_)(password|passwd|pwd|passphrase|secret|token|credentials?|apikey"
    r"|(api|access|account|secret|private|signing|encryption)_key)$"
)


class Secret:
    """A secret value that prints as dots; only `reveal` returns it."""

    __slots__ = ("_value", "reference")

    def __init__(self, value: str, *, reference: str) -> None:
        self._value = value
        self.reference = reference

    def reveal(self) -> str:
        """The value itself."""
        return self._value

    def __str__(self) -> str:
        return HIDDEN

    def __repr__(self) -> str:
        return f"Secret({self.reference})"

    def __reduce__(self) -> NoReturn:
        # A pickled secret would be written or sent somewhere.
        raise TypeError("a Secret stays in the process that looked it up")


@dataclass(eq=False, kw_only=True)
class SecretInPlainText(GoldsmithError):
    """A setting or row holds a secret in plain text instead of a reference."""

    def __str__(self) -> str:
        return "A secret is written out where a reference to it belongs."

    @property
    def hint(self) -> str:
        return "Write env:NAME, file:PATH or aws-secret:ARN, and change the secret: it was seen."


@dataclass(eq=False, kw_only=True)
class SecretMissing(GoldsmithError):
    """A reference to a secret cannot be resolved."""

    exit_code = 1

    reference: str
    reason: str

    def __str__(self) -> str:
        return f"The secret '{self.reference}' cannot be had: {self.reason}."

    @property
    def hint(self) -> str:
        return "`goldsmith config show` says which setting asks for it."


@dataclass(eq=False, kw_only=True)
class SecretsUnreachable(SecretMissing):
    """The service that stores a secret does not answer."""

    transient = True

    @property
    def hint(self) -> str:
        return "It may pass by itself; `goldsmith config check` tries every connection."


@dataclass(eq=False, kw_only=True)
class LibraryMissing(GoldsmithError):
    """An optional library that is needed is not installed."""

    library: str
    extra: str

    def __str__(self) -> str:
        return f"This needs {self.library}, which is not installed."

    @property
    def hint(self) -> str:
        return f"Install it: pip install 'goldsmith[{self.extra}]'."


def library(name: str, *, extra: str) -> Any:
    """Import an optional library; raise LibraryMissing if it is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise LibraryMissing(library=name, extra=extra) from error


def is_reference(text: str) -> bool:
    """Whether the text is a reference to a secret."""
    scheme, colon, rest = text.partition(":")
    return scheme in SCHEMES and bool(colon and rest)


def resolve(
    reference: str,
    environ: Mapping[str, str],
    *,
    endpoint: str | None = None,
    region: str | None = None,
) -> Secret:
    """Look up the secret of a reference."""
    if not is_reference(reference):
        raise SecretInPlainText
    scheme, _, name = reference.partition(":")
    match scheme:
        case "env":
            value = environ.get(name)
            if value is None:
                _missing(reference, f"the environment variable {name} is not set")
        case "file":
            value = _of_file(reference, Path(name).expanduser())
        case _:
            value = _of_aws(reference, name, endpoint, region)
    if not value:
        _missing(reference, "it is empty")
    return Secret(value, reference=reference)


def _missing(reference: str, reason: str, cause: Exception | None = None) -> NoReturn:
    raise SecretMissing(reference=reference, reason=reason) from cause


def _of_file(reference: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        text = content.decode("utf-8")
    except OSError as error:
        _missing(reference, error.strerror or str(error), error)
    except UnicodeDecodeError:
        _missing(reference, "the file is not text")
    if len(content) > _MOST_BYTES:
        _missing(reference, f"the file is longer than {_MOST_BYTES // 1024} KiB")
    # Editors add a final line break that is not part of the secret.
    return text.removesuffix("\n").removesuffix("\r")


def _of_aws(reference: str, name: str, endpoint: str | None, region: str | None) -> str:
    boto3 = library("boto3", extra="aws")
    botocore = import_module("botocore.exceptions")
    config = import_module("botocore.config").Config(
        connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 3}
    )
    arn, _, key = name.partition("#")
    if arn.count(":") >= 6:
        region = arn.split(":")[3]
    try:
        client = boto3.client(
            "secretsmanager", region_name=region, endpoint_url=endpoint, config=config
        )
        answer = client.get_secret_value(SecretId=arn)
    except botocore.ClientError as error:
        _missing(reference, f"AWS answers {error.response['Error']['Code']}", error)
    except (botocore.HTTPClientError, botocore.ConnectionError) as error:
        raise SecretsUnreachable(reference=reference, reason=str(error).rstrip(".")) from error
    except (botocore.BotoCoreError, ValueError) as error:
        _missing(reference, str(error).rstrip("."), error)
    text = answer.get("SecretString")
    if text is None:
        text = answer["SecretBinary"].decode("utf-8", "replace")
    return _of_json(reference, text, key) if key else str(text)


def _of_json(reference: str, text: str, key: str) -> str:
    import json

    try:
        table = json.loads(text)
    except ValueError:
        table = None
    # Raise without `from`: the parser's error contains the secret.
    if not isinstance(table, dict):
        _missing(reference, f"it is no JSON object, so it has no '{key}'")
    if key not in table:
        _missing(reference, f"it has no '{key}', only {one_of([str(k) for k in table])}")
    return str(table[key])


class Secrets:
    """The secrets of one process: looked up on use, redacted from its output."""

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        endpoint: str | None = None,
        region: str | None = None,
    ) -> None:
        self._environ = environ
        self._endpoint = endpoint
        self._region = region
        self._seen: dict[str, Secret] = {}

    def resolve(self, reference: str) -> Secret:
        """Look up a secret; a rotated secret needs no restart."""
        secret = resolve(reference, self._environ, endpoint=self._endpoint, region=self._region)
        self._seen[secret.reveal()] = secret
        return secret

    def redact(self, text: str) -> str:
        """The text without any secret that this process has looked up."""
        return redact(text, self._seen.values())


def redact(text: str, secrets: Iterable[Secret]) -> str:
    """The text with every secret replaced by dots, also if quoted for a URL, JSON or a repr."""
    from urllib.parse import quote

    plain = {secret.reveal() for secret in secrets}
    values = set(plain)
    for value in plain:
        values |= {quote(value, safe=""), json.dumps(value)[1:-1], repr(value)[1:-1]}
        values.add(json.dumps(value, ensure_ascii=False)[1:-1])
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= _LEAST_TO_REDACT:
            text = text.replace(value, HIDDEN)
    return text


def looks_like_secret_name(name: str) -> bool:
    """Whether the name of a setting or option suggests a secret value."""
    snake_name = "_".join(part.lower() for part in _NAME_PARTS.findall(name))
    return bool(_SECRET_NAME.search(snake_name))


def displayed(name: str, text: str | None) -> str | None:
    """A setting's value for people: a reference to a secret is shown, a secret is hidden."""
    if text is None or is_reference(text):
        return text
    return HIDDEN if looks_like_secret_name(name.rstrip('"')) else text
