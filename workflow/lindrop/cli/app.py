"""The command `lindrop` and its ends: data on standard output, one line for every mistake."""

import importlib
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any, NoReturn

import click

from lindrop.version import VERSION

# Commands in the order of their use: what `lindrop --help` says of each; the module of the same
# name has the command. A module is imported when its command is used, so that help comes at once.
COMMANDS = {
    "tune": "Compare models on your data, and save the best one fitted to all users.",
    "recommend": "Write the best items of every user.",
    "similar": "Show items like an item.",
    "explain": "Show why a user is recommended an item.",
    "split": "Split interactions into training, validation and test.",
    "fit": "Fit one model with parameters of your choice.",
    "plan": "Show what tune would compare, and how long it takes.",
    "evaluate": "Test a model on the test users of a split.",
}
CLOSED = 128 + 13  # as a program that SIGPIPE ends
INTERRUPTED = 130
LONG = 400  # characters of a message

FIRST = """\
lindrop finds the best linear recommender for your data. You need a table of who
had what: a csv, tsv or parquet file (or a folder of them) with a column of users
and a column of items.

\b
  lindrop tune my.csv                          compare models, save the best one
  lindrop recommend my.model.h5 my.csv -k 10 -o recommendations.parquet

Each command explains itself: lindrop tune --help
"""


class Commands(click.Group):
    """Commands that are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"lindrop.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=Commands,
    help=FIRST,
    invoke_without_command=True,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
)
@click.version_option(VERSION, prog_name="lindrop")
@click.pass_context
def lindrop(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end the process: 0, or 1 or 2 (a wrong option) after one line."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the code with which the process is to end."""
    if isinstance(sys.stdout, TextIOWrapper):
        if sys.stdout.isatty():  # which shows what it can
            sys.stdout.reconfigure(errors="replace")
        else:  # data are UTF-8, as in files, in every locale
            sys.stdout.reconfigure(encoding="utf-8")
    try:
        given = sys.argv[1:] if arguments is None else arguments
        found: Any = lindrop.main(_hyphens(given), prog_name="lindrop", standalone_mode=False)
        sys.stdout.flush()
        return found if isinstance(found, int) else 0
    except click.ClickException as error:
        return _refused(error)
    except (KeyboardInterrupt, click.Abort):
        print("lindrop: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # the latter from click, which catches the former
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader, such as head, has enough
        return CLOSED
    except Exception as error:
        return _failed(error)


def _hyphens(arguments: Sequence[str]) -> list[str]:
    """Arguments in which `--min_rating`, as a configuration spells it, is `--min-rating`.

    Arguments after `--` are not options and stay as they are: an id may be `--a_b`.
    """
    given = list(arguments)
    end = given.index("--") if "--" in given else len(given)
    for place, argument in enumerate(given[:end]):
        if argument.startswith("--"):
            name, equals, value = argument.partition("=")
            given[place] = name.replace("_", "-") + equals + value
    return given


def _refused(error: click.ClickException) -> int:
    """Tell a wrong command, option or argument in one line."""
    message = " ".join(error.format_message().split())
    if isinstance(error, click.BadParameter) and len(message) > LONG:
        message = f"{message[: LONG - 1]}…"
    context = getattr(error, "ctx", None)
    help_of = context.command_path if context else "lindrop"
    print(f"lindrop: error: {message.rstrip('.')}; see {help_of} --help", file=sys.stderr)
    return error.exit_code


def _failed(error: Exception) -> int:
    """Tell any other error in one line."""
    from lindrop.base.reporting import bug, disk_is_full, explained

    if os.environ.get("LINDROP_TRACEBACK"):
        raise error
    message = explained(error) or f"{bug(error)}; LINDROP_TRACEBACK=1 shows where it happened"
    print(f"lindrop: error: {message}", file=sys.stderr, flush=True)
    if disk_is_full(error):
        os._exit(1)  # at exit, HDF5 would crash on closing a file that it could not write
    return 1
