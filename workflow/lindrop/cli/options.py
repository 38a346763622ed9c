"""Options of the commands; those of the configuration come from its schema, with its words."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import Any

import click

from lindrop.base.errors import UserError
from lindrop.cli.talk import Talk, flag_of, with_flags
from lindrop.configuration.schema import load_schema

Decorator = Callable[[Any], Any]  # what adds an option to a command


class Finite(click.FloatRange):
    """A number, but not NaN, with which every comparison fails, nor infinity."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


TYPES: dict[str, click.ParamType[Any]] = {
    "integer": click.INT,
    "number": Finite(),
    "string": click.STRING,
}
DATA = "DATA is a csv, tsv or parquet file, a folder of them, or an archive of MovieLens, Netflix "
DATA += "or the Million Song Dataset."
# What the command line says in other words than the configuration, and what has another default.
WORDS = {
    "min_rating": "Keep only what is rated above this.",
    "rank": "Rank of the low-rank models.",
    "tuning": "How parameters are chosen: grid tries every value of the lists, search few of them, "
    "and values beyond an end that is best (docs/models.md).",
    "seed": "Seed of the random numbers.",
}
DEFAULTS = {"tuning": "search"}
RECOGNISED = "  [recognised if left out]"


class Number(click.ParamType[Any]):
    """A number, or a text where none is meant, such as a date."""

    name = "value"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return scalar(value)


class Sections(click.Command):
    """A command whose options are listed in sections, and are refused if they are given twice.

    Of two values of an option, click would take the last and say nothing of the other.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for param in order:
            single = isinstance(param, click.Option) and not (param.multiple or param.is_flag)
            if single and order.count(param) > 1:
                raise click.UsageError(f"{param.opts[-1]} is given {order.count(param)} times", ctx)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                sections.setdefault(getattr(param, "section", "Options"), []).append(record)
        for title in sorted(sections, key="Options".__eq__):
            with formatter.section(title):
                formatter.write_dl(sections[title])


class Option(click.Option):
    """An option of a section, which may be a key of the configuration."""

    def __init__(self, *args: Any, section: str = "Options", key: str = "", **rest: Any) -> None:
        super().__init__(*args, **rest)
        self.section, self.key = section, key


def scalar(text: Any) -> Any:
    """A number, true, false or null where a text says one, else the text.

    What Python reads as a number, but hardly anybody means as one, is a text: 1_000, or the 000 of
    1,000 in a list.
    """
    if not isinstance(text, str) or re.search(r"_|^[+-]?0\d", text):
        return text
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def listed(text: str) -> list[Any]:
    """The values of a text such as 10,100,1000."""
    return [scalar(value.strip()) for value in text.split(",") if value.strip()]


def named_values(texts: Iterable[str], form: str) -> dict[str, str]:
    """Names and values of texts such as lambda=100; click.UsageError for another form."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise click.UsageError(f"{text!r} is not of the form {form}")
        if name in pairs:
            raise click.UsageError(f"{name} is given twice, as {pairs[name]!r} and as {value!r}")
        pairs[name] = value
    return pairs


def of_rule(
    flag: str, key: str, rule: Mapping[str, Any], section: str, extra: str = ""
) -> Decorator:
    """The option for a key of the configuration."""
    kinds = rule.get("type", "string")
    kind = next(each for each in ([kinds] if isinstance(kinds, str) else kinds) if each != "null")
    rule_key = key.removeprefix("protocol_")
    several = isinstance(kinds, list) and {"number", "string"} <= set(kinds)
    default = DEFAULTS.get(key, rule.get("default"))
    said = "" if default is None else f"  [default: {_shown(default)}]"
    type_: Any = TYPES.get(kind, click.STRING)
    if several:
        type_ = Number()
    elif "enum" in rule:
        type_ = click.Choice([str(each) for each in rule["enum"] if each is not None])
    return click.option(
        f"--{flag}",
        key,
        cls=Option,
        section=section,
        key=key,
        type=type_,
        metavar="LIST" if kind == "array" else None,
        callback=_list_of if kind == "array" else None,
        help=_plain(WORDS.get(rule_key, rule["description"])) + extra + said,
    )


def _list_of(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    return None if value is None else listed(value)


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _plain(text: str) -> str:
    """A description without the marks of Markdown, with options in place of keys."""
    return with_flags(text.replace("`", "").replace(" null: ", " By default: "))


def all_of(options: Iterable[Decorator]) -> Decorator:
    """One decorator for several options, which help lists in this order."""

    def decorate(command: Any) -> Any:
        for option in reversed(list(options)):
            command = option(command)
        return command

    return decorate


def protocol_rules() -> dict[str, Any]:
    """Schema of every key of a protocol, of whichever split."""
    schema = load_schema()["properties"]["datasets"]["additionalProperties"]["properties"]
    kinds = schema["protocol"]["oneOf"]
    rules: dict[str, Any] = {}
    for kind in kinds:
        for key, rule in kind["properties"].items():
            rules.setdefault(key, rule)
    splits = [name for kind in kinds for name in kind["properties"]["split"]["enum"]]
    described = " ".join(
        f"{name}: {kind['description'].split('(')[0].rstrip(' .')[0].lower()}"
        f"{kind['description'].split('(')[0].rstrip(' .')[1:]}."
        for name, kind in zip(splits, kinds, strict=True)
    )
    rules["split"] = {"enum": splits, "default": "users", "description": f"Who tests. {described}"}
    return rules


def _source_rule(key: str) -> Mapping[str, Any]:
    schema = load_schema()["properties"]["datasets"]["additionalProperties"]["properties"]
    (rule,) = (
        kind["properties"][key]
        for kind in schema["source"]["oneOf"]
        if "csv" in kind["properties"]["format"]["enum"]
    )
    return {name: value for name, value in rule.items() if name != "default"}


READING = ("user", "item", "rating", "time")


def reading() -> Decorator:
    """Options that say how DATA is read."""
    formats = ["csv", "tsv", "parquet", "movielens", "netflix", "msd", "adjacency"]
    format_rule = {"enum": formats, "description": "Format of DATA."}
    return all_of(
        [
            of_rule("format", "format", format_rule, "How DATA is read", RECOGNISED),
            *(
                of_rule(key, key, _source_rule(key), "How DATA is read", RECOGNISED)
                for key in READING
            ),
        ]
    )


def min_rating() -> Decorator:
    """The option `--min-rating` of commands that read DATA without splitting it."""
    extra = "  [default: that of the model]"
    return of_rule(
        "min-rating", "min_rating", protocol_rules()["min_rating"], "How DATA is read", extra
    )


def splitting(keys: Sequence[str] = ()) -> Decorator:
    """Options of the protocol: which interactions are kept, and how they are split.

    With `keys`, only these.
    """
    rules = {key: rule for key, rule in protocol_rules().items() if not keys or key in keys}
    extra = {"heldout_users": "  [default: a tenth of the users, 10,000 at most]"}
    options: list[Decorator] = [
        of_rule(
            flag_of(key).removeprefix("--"),
            f"protocol_{key}",
            rule,
            "How it is split",
            extra.get(key, ""),
        )
        for key, rule in rules.items()
    ]
    files = [
        click.option(
            f"--{part}",
            part,
            cls=Option,
            section="How it is split",
            type=click.Path(exists=True, path_type=Path),
            help=f"The file of {what} for --split given, in the format of DATA.",
        )
        for part, what in (
            ("test", "test interactions"),
            ("validation", "interactions by which models are tuned"),
        )
    ]
    return all_of(options if keys else [*options, *files])


def of_config(*keys: str, section: str = "Models") -> Decorator:
    """Options for keys at the top of the configuration."""
    rules = load_schema()["properties"]
    return all_of([of_rule(key.replace("_", "-"), key, rules[key], section) for key in keys])


def number(of: str, default: int, flag: str = "k", section: str = "Options") -> Decorator:
    """An option for a whole number of at least 1, called `-k` unless `flag` names it."""
    names = ("-k", "--k") if flag == "k" else (f"--{flag}",)
    return click.option(
        *(*names, flag),
        cls=Option,
        section=section,
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        help=f"Number of {of}.",
    )


def output(default: str, suffixes: str) -> Decorator:
    """The option `-o`."""
    return click.option(
        "-o",
        "--output",
        cls=Option,
        type=click.Path(dir_okay=False, path_type=Path),
        help=f"File to write: {suffixes}.  [default: {default}]",
    )


def output_form(*forms: str) -> Decorator:
    """The option `--as`: the form of what stands on standard output."""
    return click.option(
        "--as",
        "form",
        cls=Option,
        type=click.Choice(forms),
        help="Form of the output.  [default: table on a terminal, else csv]",
    )


def talking(command: Any) -> Any:
    """Options `--quiet` and `--verbose`, from which a command gets its argument `talk`."""

    @wraps(command)
    def speaking(quiet: bool, verbose: bool, **rest: Any) -> Any:
        return command(talk=Talk(quiet, verbose), **rest)

    options = [
        click.option(*(f"-{name[0]}", f"--{name}"), cls=Option, is_flag=True, help=f"Say {what}.")
        for name, what in {
            "quiet": "nothing but errors",
            "verbose": "all that the library logs",
        }.items()
    ]
    return all_of(options)(speaking)


def given(options: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The options that were given, by the keys of the configuration."""
    return {
        key.removeprefix(prefix): value
        for key, value in options.items()
        if key.startswith(prefix) and value not in (None, ())
    }


def as_option(error: UserError) -> UserError:
    """A mistake in a setting with the name of its option in place of the configuration's key."""

    def flag(found: re.Match[str]) -> str:
        part, key = found["part"], found["key"].removeprefix("compare.")
        if found["key"].startswith("compare.models"):
            return "--models"
        if key.startswith("models."):
            return f"--grid {key.removeprefix('models.')}"
        return flag_of(key) if part == "protocol" else f"--{key.replace('_', '-')}"

    place = r"config: (datasets\.data\.(?P<part>source|protocol)\.)?(?P<key>[a-z0-9_.\[\]]+)"
    text = re.sub(place, flag, str(error), count=1)
    unknown = "no such model or option"
    if "datasets.data.protocol" in str(error):
        unknown = "not an option of this --split"
    return UserError(re.sub(r": unknown key \(value .*\); ", f": {unknown}; ", text))
