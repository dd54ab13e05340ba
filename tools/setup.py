"""Makes all that a working copy needs: .venv with its packages, a Java, the jars of Spark.

`make setup` runs this; `make demo` and `make test` run that. It uses the standard library only,
says one line for each step, and may be stopped anywhere: the next run finishes or starts again.
"""

from __future__ import annotations

import ast
import compileall
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src"
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
LOG = VENV / "setup.log"
#: Written last: what the environment was made from.
STAMP = VENV / ".setup.json"
#: There while packages are being installed; if it is there at the start, they are half there.
UNFINISHED = VENV / ".unfinished"

UV_VERSION = "0.13.7"
GIGABYTE = 1024**3
#: 1.6 GB stay in .venv; 3.6 GB were the most in use while Spark was unpacked and built.
SPACE = 4 * GIGABYTE
SUPPORTED = ((3, 11), (3, 13))

NOT_INSTALLED = "Python packages could not be installed"
INDEX = "A connection to a Python package index is needed; PIP_INDEX_URL names another one"
#: What the network's own errors look like in the words of pip and uv.
NETWORK = re.compile(
    r"(?i)connection (?:refused|reset|timed out)|name or service not known|name resolution"
    r"|no route to host|network is unreachable|dns error|certificate verify failed"
    r"|invalid peer certificate|unknownissuer|operation timed out|read timed out"
)


class Problem(Exception):
    """Why set-up cannot go on, what is needed, and nothing else."""


class NoConnection(Problem):
    """The network is the reason."""


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        if not is_ready():
            return 1
        compileall.compile_dir(SOURCES, quiet=2)
        if "--quiet" not in arguments:
            print("Everything is in place.")
        return 0
    try:
        with alone():
            if not is_ready():
                set_up()
    except Problem as problem:
        print(f"\nSet-up stopped. {problem}", file=sys.stderr)
    except OSError as error:
        why = "The disk is full." if error.errno == errno.ENOSPC else f"{error}."
        print(f"\nSet-up stopped. {why} Mend that, then run `make setup` again.", file=sys.stderr)
    except KeyboardInterrupt:
        print("\nSet-up was interrupted. `make setup` goes on.", file=sys.stderr)
        return 130
    else:
        return 0
    return 1


def set_up() -> None:
    if not is_installed():
        check_space()
        make_environment()
        try:
            install_packages()
            install_goldsmith()
        except NoConnection:
            # Everything is fetched before anything is changed, so what was there still works.
            UNFINISHED.unlink()
            raise
        write_stamp(made_from())
        UNFINISHED.unlink()
    compile_sources()
    java = find_java()
    fetch_jars()
    write_stamp(made_from() | {"java": java})


# What is there already.


def is_ready() -> bool:
    """Nothing is left to do. Quick: it runs before every `make` that needs the environment."""
    java = read_stamp().get("java", "")
    return is_installed() and bool(java) and Path(java, "bin", "java").exists() and has_jars()


def is_installed() -> bool:
    stamp = read_stamp()
    stamp.pop("java", None)
    return PYTHON.exists() and not UNFINISHED.exists() and stamp == made_from()


def made_from() -> dict[str, str]:
    """What an environment depends on; a copied or moved one does not work, so the place counts."""
    names = ("requirements.lock", "java.lock", "pyproject.toml")
    sums = {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in names}
    return {"place": str(ROOT), "python": python_version(), **sums}


def python_version() -> str:
    try:
        settings = (VENV / "pyvenv.cfg").read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(r"^version(?:_info)? = (\S+)", settings, re.MULTILINE)
    return found[1] if found else ""


def read_stamp() -> dict[str, str]:
    try:
        return dict(json.loads(STAMP.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def write_stamp(facts: dict[str, str]) -> None:
    temporary = STAMP.with_suffix(".new")
    temporary.write_text(json.dumps(facts, indent=1), encoding="utf-8")
    os.replace(temporary, STAMP)


def has_jars() -> bool:
    sys.path.insert(0, str(SOURCES))
    from goldsmith.setup import jars

    try:
        jars.paths()
    except jars.JarsMissing:
        return False
    return True


# The steps, in their order.


def check_space() -> None:
    cache = os.environ.get("UV_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    for folder in (VENV, Path(cache) if cache else Path.home()):
        there = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
        free = shutil.disk_usage(there).free
        if free < SPACE:
            raise Problem(
                f"{there} has {free / GIGABYTE:.1f} GB free, and installing needs "
                f"{SPACE // GIGABYTE} GB. Make room, then run `make setup` again."
            )


def make_environment() -> None:
    """Keep an environment that works; empty one that was left half made, moved or too old."""
    VENV.mkdir(parents=True, exist_ok=True)
    stale = UNFINISHED.exists() or read_stamp().get("place", str(ROOT)) != str(ROOT)
    stale = stale or not has_good_python()
    UNFINISHED.touch()
    LOG.unlink(missing_ok=True)
    if not stale:
        return
    for entry in VENV.iterdir():
        if entry == UNFINISHED:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    with step(f"Python {sys.version.split()[0]} in .venv"):
        run(
            [sys.executable, "-m", "venv", str(VENV)],
            "The environment .venv could not be made",
            "Python's own venv and ensurepip are needed (on Debian: the package python3-venv)",
        )


def has_good_python() -> bool:
    low, high = SUPPORTED
    code = f"import sys, pip; sys.exit(not {low} <= sys.version_info[:2] <= {high})"
    try:
        answer = subprocess.run([PYTHON, "-c", code], env=environment(), capture_output=True)
    except OSError:
        return False
    return answer.returncode == 0


def install_packages() -> None:
    quick = has_uv()
    count = len(re.findall(r"^[a-z0-9]", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    with step(f"{count} packages by {'uv' if quick else 'pip'}, a minute or two"):
        install("--require-hashes", "-r", str(ROOT / "requirements.lock"))


def install_goldsmith() -> None:
    with step("goldsmith itself"):
        install("--no-build-isolation", "--no-deps", "-e", str(ROOT))


def compile_sources() -> None:
    # Where PYTHONDONTWRITEBYTECODE is set, nobody else would, and every start would be slow.
    subprocess.run([PYTHON, "-m", "compileall", "-qq", SOURCES], check=False)


def find_java() -> str:
    found = ask_for_java()
    if found is None:
        with step("A Java for Spark, since there is none of version 17 or 21"):
            install("--require-hashes", "-r", str(ROOT / "java.lock"))
        found = ask_for_java()
    if found is None:
        raise Problem(
            "Spark needs Java 17 or 21, and the one that was installed does not work here. "
            "Install one, set JAVA_HOME to it, then run `make setup` again."
        )
    print(f"  {found}")
    return found.split(": ", 1)[1]


def ask_for_java() -> str | None:
    command = [str(PYTHON), "-m", "goldsmith.setup.java"]
    answer = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    return answer.stdout.strip() if answer.returncode == 0 else None


def fetch_jars() -> None:
    command = [str(PYTHON), "-m", "goldsmith.setup.jars"]
    with step("The jars of Spark"):
        answer = subprocess.run(
            command, env=environment(), capture_output=True, text=True, check=False
        )
        if answer.returncode:
            raise Problem(answer.stderr.strip() or "The jars of Spark could not be fetched.")


# Installing.


def has_uv() -> bool:
    """uv is there, or pip could fetch it."""
    if installed_uv() == UV_VERSION:
        return True
    try:
        run([str(PYTHON), "-m", "pip", "install", f"uv=={UV_VERSION}"], NOT_INSTALLED, INDEX)
    except NoConnection:
        raise  # pip alone would fare no better.
    except Problem:
        return False
    return True


def installed_uv() -> str | None:
    try:
        answer = subprocess.run([UV, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return [*answer.stdout.split(), "", ""][1]


def install(*arguments: str) -> None:
    if installed_uv() == UV_VERSION:
        command = [str(UV), "pip", "install", "--python", str(PYTHON), "--compile-bytecode"]
        extra = uv_settings()
    else:
        command = [str(PYTHON), "-m", "pip", "install"]
        extra = {}
    run([*command, *arguments], NOT_INSTALLED, INDEX, extra)


def uv_settings() -> dict[str, str]:
    """What pip was told about mirrors and certificates, in uv's words: uv does not ask pip."""
    variables = {
        "index-url": "UV_DEFAULT_INDEX",
        "extra-index-url": "UV_INDEX",
        "cert": "SSL_CERT_FILE",
    }
    environ = {"UV_SYSTEM_CERTS": "true"}
    command = [str(PYTHON), "-m", "pip", "config", "list"]
    answer = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    # The variables of the environment come first in the list and win.
    for line in answer.stdout.splitlines():
        key, _, value = line.partition("=")
        variable = variables.get(key.rpartition(".")[2])
        if variable and variable not in os.environ and variable not in environ:
            with contextlib.suppress(ValueError, SyntaxError):
                environ[variable] = " ".join(str(ast.literal_eval(value)).split())
    return environ


def environment() -> dict[str, str]:
    """The environment without what would lead an installer out of .venv."""
    lead_away = ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX")
    kept = {name: value for name, value in os.environ.items() if name not in lead_away}
    return kept | {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(command: list[str], failed: str, needed: str, extra: dict[str, str] | None = None) -> None:
    with LOG.open("ab") as log:
        start = log.tell()
        code = subprocess.run(
            command, env=environment() | (extra or {}), stdout=log, stderr=log, check=False
        ).returncode
    if code:
        output = LOG.read_bytes()[start:].decode(errors="replace")
        kind = NoConnection if NETWORK.search(output) else Problem
        raise kind(
            f"{failed}: {reason(output)}. {needed}. Then run `make setup` again. "
            f"All that was said is in {LOG}."
        )


def reason(output: str) -> str:
    """What tells most: the network's own words, the innermost cause, the last line."""
    if network := NETWORK.findall(output):
        return str(network[-1]).lower()
    lines = [line.strip(" ×╰─▶├│") for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(?i)caused by:|error:", line)]
    chosen = (telling or lines or ["no reason given"])[-1]
    return re.sub(r"(?i)^(caused by|error):\s*", "", chosen).rstrip(".")


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """One line: what is being done, and how long it took."""
    print(f"  {what} …", end=" ", flush=True)
    start = time.monotonic()
    yield
    print(f"{time.monotonic() - start:.0f} s", flush=True)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One set-up at a time in a working copy; the second waits and finds all done."""
    with (ROOT / ".setup.lock").open("a") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another `make setup` is at work here; waiting for it.", flush=True)
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
