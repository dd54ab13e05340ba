"""Fetch the jars that Spark needs beside its own: pinned, checked, shared by a user's projects.

`jars.lock` lists them with their SHA-256. The Apache Ivy that Spark ships fetches them, because
Ivy knows Maven repositories and a fresh machine may have no Maven.
To use a mirror, set GOLDSMITH_IVY_SETTINGS to a file with Ivy settings.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from goldsmith.errors import GoldsmithError, one_of
from goldsmith.setup.java import cache_folder, find

LOCK = Path(__file__).with_name("jars.lock")

#: Ivy fetches one file after the other, so several processes run; more than four gain nothing.
_AT_ONCE = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Jar:
    """One line of the lock."""

    organisation: str
    name: str
    revision: str
    sha256: str

    @property
    def file(self) -> str:
        return f"{self.name}-{self.revision}.jar"


#: Fetches these jars into a folder; returns the reason if some are missing.
Bring = Callable[[Sequence[Jar], Path], str]


@dataclass(eq=False, kw_only=True)
class JarsMissing(GoldsmithError):
    """Jars that Spark needs are not on this machine."""

    folder: str
    missing: tuple[str, ...]

    def __str__(self) -> str:
        return f"Spark needs jars that are not in {self.folder}: {one_of(self.missing, most=3)}."

    @property
    def hint(self) -> str:
        return "`goldsmith setup` fetches them."


@dataclass(eq=False, kw_only=True)
class JarsNotFetched(GoldsmithError):
    """Jars that Spark needs could not be fetched."""

    transient = True

    missing: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        count = len(self.missing)
        what = f"The jar {self.missing[0]}" if count == 1 else f"{count} jars that Spark needs"
        return f"{what} could not be fetched: {self.reason}."

    @property
    def hint(self) -> str:
        return (
            "A connection to a Maven registry is needed; GOLDSMITH_IVY_SETTINGS names a file of "
            "Ivy settings where it must be a mirror. Then run `goldsmith setup`."
        )


@dataclass(eq=False, kw_only=True)
class JarDiffers(GoldsmithError):
    """The SHA-256 of a fetched jar differs from jars.lock."""

    jar: str
    expected: str
    found: str

    def __str__(self) -> str:
        return (
            f"The fetched {self.jar} is not the file the lock names: "
            f"its SHA-256 must be {self.expected} and is {self.found}."
        )

    @property
    def hint(self) -> str:
        return (
            "The file was not kept. A mirror or a proxy on the way may have changed it: "
            "try another network, then run `goldsmith setup`."
        )


def paths(folder: Path | None = None, *, lock: Path = LOCK) -> tuple[Path, ...]:
    """Every jar of the lock, in its order; raise JarsMissing if some are missing."""
    folder = _folder() if folder is None else folder
    text = lock.read_bytes()
    jars = _read(text)
    missing = _missing(jars, folder, _stamp(folder, text))
    if missing:
        raise JarsMissing(folder=str(folder), missing=missing)
    return tuple(folder / jar.file for jar in jars)


def fetch(
    progress: Callable[[str], None],
    folder: Path | None = None,
    *,
    lock: Path = LOCK,
    bring: Bring | None = None,
) -> tuple[Path, ...]:
    """Fetch every jar of the lock into the folder, except those with the right SHA-256."""
    folder = _folder() if folder is None else folder
    text = lock.read_bytes()
    jars = _read(text)
    stamp = _stamp(folder, text)
    if _missing(jars, folder, stamp):
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            wanted = [jar for jar in jars if _sum(folder / jar.file) != jar.sha256]
            if wanted:
                progress(f"Fetching {len(wanted)} of {len(jars)} jars")
                _bring(wanted, folder, bring or _ivy)
            sizes = {jar.file: (folder / jar.file).stat().st_size for jar in jars}
            _write(stamp, json.dumps(sizes, indent=1))
    progress(f"{len(jars)} jars in {folder}")
    return tuple(folder / jar.file for jar in jars)


def _folder() -> Path:
    return cache_folder() / "jars"


def _read(lock: bytes) -> tuple[Jar, ...]:
    jars = []
    for line in lock.decode().splitlines():
        if line and not line.startswith("#"):
            coordinates, sha256 = line.split()
            organisation, name, revision = coordinates.split(":")
            jars.append(Jar(organisation=organisation, name=name, revision=revision, sha256=sha256))
    return tuple(jars)


def _stamp(folder: Path, lock: bytes) -> Path:
    """The file that records the sizes of checked jars, so that later starts need not hash them."""
    return folder / f".checked-{hashlib.sha256(lock).hexdigest()[:16]}.json"


def _missing(jars: Sequence[Jar], folder: Path, stamp: Path) -> tuple[str, ...]:
    try:
        sizes = json.loads(stamp.read_bytes())
    except (OSError, ValueError):
        return tuple(jar.file for jar in jars)
    return tuple(jar.file for jar in jars if _size(folder / jar.file) != sizes.get(jar.file, -1))


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except OSError:
        return None


def _sum(file: Path) -> str | None:
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        return None


def _write(file: Path, text: str) -> None:
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, file)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock the folder for one process, and remove leftovers of interrupted fetches."""
    with (folder / ".lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for left in folder.glob(".fetching-*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


def _bring(jars: Sequence[Jar], folder: Path, bring: Bring) -> None:
    """Fetch to a temporary folder, move jars with the right SHA-256, raise for the others."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetching-") as name:
        temporary = Path(name)
        reason = bring(jars, temporary)
        found = {jar: _sum(temporary / jar.file) for jar in jars}
        for jar, sha256 in found.items():
            if sha256 == jar.sha256:
                os.replace(temporary / jar.file, folder / jar.file)
    for jar, sha256 in found.items():
        if sha256 not in (None, jar.sha256):
            raise JarDiffers(jar=jar.file, expected=jar.sha256, found=sha256 or "")
    missing = tuple(jar.file for jar, sha256 in found.items() if sha256 is None)
    if missing:
        raise JarsNotFetched(missing=missing, reason=reason or "the registry does not have it")


def _ivy(jars: Sequence[Jar], into: Path) -> str:
    """Fetch the jars with a few Ivy processes; return the reason of a failure."""
    command = [
        str(find().command),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xmx256m",
        *_proxies(),
        "-cp",
        str(_ivy_jar()),
        "org.apache.ivy.Main",
        "-warn",
    ]
    settings = os.environ.get("GOLDSMITH_IVY_SETTINGS") or _file(into / "settings.xml", _SETTINGS)
    parts = [jars[start::_AT_ONCE] for start in range(min(_AT_ONCE, len(jars)))]
    outputs = [into / f"output-{number}.txt" for number in range(len(parts))]
    with ExitStack() as running:
        processes = []
        for number, (part, output) in enumerate(zip(parts, outputs, strict=True)):
            ivy_file = _file(into / f"ivy-{number}.xml", _ivy_file(part))
            arguments = ["-settings", settings, "-cache", str(into / f"cache-{number}")]
            arguments += ["-ivy", ivy_file, "-retrieve", f"{into}/[artifact]-[revision].[ext]"]
            process = subprocess.Popen(
                command + arguments,
                stdin=subprocess.DEVNULL,
                stdout=running.enter_context(output.open("w")),
                stderr=subprocess.STDOUT,
            )
            running.callback(_end, process)
            processes.append(process)
        for process in processes:
            process.wait()
    return next(filter(None, map(_reason, outputs)), "")


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()


def _ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise JarsNotFetched(missing=("ivy",), reason="the package pyspark is not installed")
    return next((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))


def _proxies() -> list[str]:
    """The usual proxy variables of the environment as Java options."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies_environment

    named = getproxies_environment()
    options = []
    for scheme in ("http", "https"):
        proxy = urlsplit(named.get(scheme, ""))
        if proxy.hostname:
            options.append(f"-D{scheme}.proxyHost={proxy.hostname}")
            options.append(f"-D{scheme}.proxyPort={proxy.port or 80}")
    if direct := named.get("no"):
        hosts = [host.strip() for host in direct.split(",")]
        joined = "|".join(f"*{host}" if host.startswith(".") else host for host in hosts)
        options.append(f"-Dhttp.nonProxyHosts={joined}")
    return options


#: No repository URL: Ivy has a default. No poms and no checksums: the lock replaces both.
_SETTINGS = """\
<ivysettings>
  <settings defaultResolver="maven"/>
  <timeout-constraints>
    <timeout-constraint name="patient" connectionTimeout="20000" readTimeout="60000"/>
  </timeout-constraints>
  <resolvers>
    <ibiblio name="maven" m2compatible="true" usepoms="false" checksums=""
             timeoutConstraint="patient"/>
  </resolvers>
</ivysettings>
"""


def _ivy_file(jars: Sequence[Jar]) -> str:
    dependencies = "\n".join(
        f'<dependency org="{jar.organisation}" name="{jar.name}" rev="{jar.revision}"'
        ' conf="default->*" transitive="false"/>'
        for jar in jars
    )
    return (
        '<ivy-module version="2.0"><info organisation="goldsmith" module="jars"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )


def _file(file: Path, text: str) -> str:
    file.write_text(text, encoding="utf-8")
    return str(file)


def _reason(output: Path) -> str:
    """The error in Ivy's output, without its tables and dots."""
    log = output.read_text(encoding="utf-8", errors="replace")
    for pattern in (r"\(([\w.$]+(?:Exception|Error)\b[^)\n]*)\)", r"(Host \S+ not found)"):
        if found := re.search(pattern, log):
            return found[1].strip()
    return ""


def main() -> int:
    """Fetch the jars and print progress."""
    try:
        fetch(lambda line: print(line, flush=True))
    except GoldsmithError as error:
        print(f"{error}\n  {error.hint}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"The jars could not be put into {_folder()}: {error}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. What was fetched and checked stays.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
