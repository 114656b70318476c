"""Parts of the reference, as Markdown that is read from the code."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click
from starlette.testclient import TestClient

import faqsvc_embed
from faqsvc_embed import errors, settings
from faqsvc_embed.cli import main
from faqsvc_embed.mcp.definitions import TOOLS
from faqsvc_embed.service import create_app

PACKAGE: Final = Path(faqsvc_embed.__file__).parent


def markdown_of_settings() -> Iterator[str]:
    """Yield a table of all settings: name, default and docstring."""
    described = docstrings_of_attributes(settings.Settings)
    yield from ("| setting | default | meaning |", "| --- | --- | --- |")
    for name in settings.NAMES:
        default = getattr(settings.Settings, name)
        if name == "theme":
            default = None
        yield f"| `{name}` | `{default!r}` | {cell(described[name])} |"


def markdown_of_command() -> Iterator[str]:
    """Yield a table of the commands."""
    yield from ("| command | what it does |", "| --- | --- |")
    for context in _contexts():
        if not isinstance(context.command, click.Group):
            path = context.command_path
            first = prose(_paragraphs(context.command)[0])
            yield f"| [`{path}`](#{path.replace(' ', '-')}) | {cell(first)} |"


def markdown_of_commands() -> Iterator[str]:
    """Yield every command in a section: its usage, its help and a table of its options."""
    for context in _contexts():
        command, path = context.command, context.command_path
        yield from (f"({path.replace(' ', '-')})=", f"## {path}", "")
        for paragraph in _paragraphs(command):
            if paragraph.startswith("\b\n"):
                yield from literal(inspect.cleandoc(paragraph.removeprefix("\b\n")))
            else:
                yield from (prose(paragraph), "")
        if isinstance(command, click.Group):
            continue
        yield from literal(command.get_usage(context))
        records = filter(None, (one.get_help_record(context) for one in command.params))
        rows = [
            f"| `{cell(option)}` | {cell(prose(text))} |"
            for option, text in records
            if text and option != "-h, --help"
        ]
        yield from ("| option | meaning |", "| --- | --- |", *rows, "") if rows else ()


def _contexts() -> Iterator[click.Context]:
    """Yield the context of every command below `faqsvc`."""
    yield from _below(click.Context(main, info_name="faqsvc", max_content_width=88))


def _below(parent: click.Context) -> Iterator[click.Context]:
    group = parent.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(parent):
        if group.commands[name].hidden:
            continue
        context = click.Context(group.commands[name], info_name=name, parent=parent, max_content_width=88)
        yield context
        yield from _below(context)


def _paragraphs(command: click.Command) -> list[str]:
    return re.split(r"\n\n+", inspect.cleandoc(command.help or ""))


def prose(text: str) -> str:
    """Return help as Markdown: options and variables are code."""
    plain_or_code = re.compile(r"`[^`]*`|(?<![\w-])(?:--[a-z][a-z-]*|FAQSVC_[A-Z_]+)")
    text = plain_or_code.sub(lambda found: f"`{found[0].strip('`')}`", " ".join(text.split()))
    return text.replace("<", "\\<")


def markdown_of_routes() -> Iterator[str]:
    """Yield a table of the routes of the service, from its OpenAPI description."""
    with TemporaryDirectory() as directory, TestClient(create_app(f"sqlite:///{directory}/db")) as client:
        described = client.get("/openapi.json").json()
    yield from ("| route | what it does | statuses |", "| --- | --- | --- |")
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            if isinstance(operation, dict) and "responses" in operation:
                statuses = ", ".join(operation["responses"])
                yield f"| `{method.upper()} {path}` | {cell(operation['summary'])} | {statuses} |"


def markdown_of_errors() -> Iterator[str]:
    """Yield a table of the exceptions, each below the one that it is a kind of."""
    yield from ("| exception | is a | meaning |", "| --- | --- | --- |")
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, errors.FAQError):
            bases = ", ".join(f"`{base.__name__}`" for base in error.__bases__)
            yield f"| `{error.__name__}` | {bases} | {cell(inspect.getdoc(error) or '')} |"


def markdown_of_tools() -> Iterator[str]:
    """Yield the tools of the MCP server, each with its arguments."""
    for tool in TOOLS:
        yield from (f"## {tool['name']}", "", cell(tool["description"]), "")
        yield from ("| argument | type | meaning |", "| --- | --- | --- |")
        required = tool["inputSchema"]["required"]
        for name, schema in tool["inputSchema"]["properties"].items():
            kind = schema.get("type", "") + (", required" if name in required else "")
            yield f"| `{name}` | {kind} | {cell(schema.get('description', ''))} |"
        yield ""


CSS_PROPERTIES: Final = {
    "--faqsvc-question-size": "the size of questions",
    "--faqsvc-accent": "the marker, and the line below a question that is pointed at",
    "--faqsvc-link": "links in answers",
    "--faqsvc-line": "the colour of lines",
    "--faqsvc-rule": "the lines between questions",
    "--faqsvc-radius": "the corners of cards",
    "--faqsvc-gap": "the space above and below a question",
    "--faqsvc-space": "the space above and below the FAQ",
    "--faqsvc-measure": "the greatest width of the FAQ",
    "--faqsvc-scroll-margin": "the space above what was opened by its address, for a sticky header",
}


def markdown_of_css() -> Iterator[str]:
    """Yield a table of the custom properties of the stylesheet, with their defaults."""
    css = (PACKAGE / "static" / "faqsvc.css").read_text(encoding="utf-8")
    defaults = dict[str, list[str]]()
    for found in re.finditer(r"var\((--faqsvc-[a-z-]+), ", css):
        default = re.sub(r"var\(--_faqsvc-theme-[a-z]+, (.+)\)$", r"\1", argument(css, found.end()))
        values = defaults.setdefault(found[1], [])
        if default not in values:
            values.append(default)
    if defaults.keys() != CSS_PROPERTIES.keys():
        raise LookupError(f"describe the custom properties {sorted(defaults)} here")
    yield from ("| property | what it changes | default |", "| --- | --- | --- |")
    for name, meaning in CSS_PROPERTIES.items():
        yield f"| `{name}` | {meaning} | {', '.join(f'`{value}`' for value in defaults[name])} |"


def markdown_of_template() -> Iterator[str]:
    """Yield the comment at the head of the overridable template, which lists its variables."""
    template = (PACKAGE / "templates" / "faqsvc" / "block.html").read_text(encoding="utf-8")
    comment = re.match(r"\{#-?(.*?)-?#\}", template, re.DOTALL)
    yield from literal(inspect.cleandoc(comment[1].strip()) if comment else "")


def argument(css: str, start: int) -> str:
    """Return the text up to the bracket that closes the one before `start`."""
    depth = 0
    for at in range(start, len(css)):
        depth += {"(": 1, ")": -1}.get(css[at], 0)
        if depth < 0:
            return css[start:at]
    return css[start:]


def docstrings_of_attributes(owner: type) -> dict[str, str]:
    """Return the strings below the attributes of a class."""
    (defined,) = ast.parse(inspect.getsource(owner)).body
    found = dict[str, str]()
    name = ""
    for node in getattr(defined, "body", ()):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and name:
            found.setdefault(name, inspect.cleandoc(str(node.value.value)))
    return found


def cell(text: str) -> str:
    """Return text as a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def literal(text: str) -> Iterator[str]:
    """Yield text as a literal block."""
    yield from ("```text", *text.splitlines(), "```", "")


PARTS: Final[dict[str, Callable[[], Iterator[str]]]] = {
    "settings": markdown_of_settings,
    "command": markdown_of_command,
    "commands": markdown_of_commands,
    "routes": markdown_of_routes,
    "errors": markdown_of_errors,
    "css": markdown_of_css,
    "template": markdown_of_template,
    "tools": markdown_of_tools,
}
