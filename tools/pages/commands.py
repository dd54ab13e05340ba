"""docs/reference/cli.md: every command, from the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from goldsmith.cli.main import goldsmith
from pages.markdown import code, filled, table


def page() -> str:
    found = list(walk(goldsmith, "goldsmith", None))
    index = [
        f"- [{code(ctx.command_path)}](#{ctx.command_path.replace(' ', '-')}): "
        f"{command.get_short_help_str(limit=200)}"
        for ctx, command in found[1:]
    ]
    described = "\n\n".join(_described(ctx, command) for ctx, command in found)
    return filled("commands.md", {"index": "\n".join(index), "commands": described})


def walk(
    command: click.Command, name: str, parent: click.Context | None
) -> Iterator[tuple[click.Context, click.Command]]:
    """A command, then everything below it, in the order its group lists them."""
    ctx = click.Context(command, info_name=name, parent=parent)
    yield ctx, command
    if isinstance(command, click.Group):
        for child in command.list_commands(ctx):
            found = command.get_command(ctx, child)
            if found is not None and not found.hidden:
                yield from walk(found, child, ctx)


def _described(ctx: click.Context, command: click.Command) -> str:
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    options = [
        (_spelt(option, ctx), _says(option))
        for option in command.get_params(ctx)
        if isinstance(option, click.Option) and not option.hidden and "--help" not in option.opts
    ]
    parts = [f"## {ctx.command_path}", f"```\n{usage}\n```", _help(command)]
    if options:
        parts.append(table(["option", "what it does"], options))
    return "\n\n".join(part for part in parts if part)


def _help(command: click.Command) -> str:
    """The help text, each paragraph on one line; click's `\\b` keeps the lines below it."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return "\n\n".join(
        f"```\n{text.removeprefix(chr(8)).strip()}\n```"
        if text.startswith("\b")
        else " ".join(text.split())
        for text in paragraphs
    )


def _spelt(option: click.Option, ctx: click.Context) -> str:
    names = ", ".join(code(name) for name in (*option.opts, *option.secondary_opts))
    return names if option.is_flag or option.count else f"{names} {option.make_metavar(ctx)}"


def _says(option: click.Option) -> str:
    parts = [option.help or ""]
    if option.show_default and not option.is_flag:
        parts.append(f"Default: {option.default}.")
    if option.multiple and "may be repeated" not in (option.help or ""):
        parts.append("May be given several times.")
    if option.required:
        parts.append("Required.")
    return " ".join(part for part in parts if part)
