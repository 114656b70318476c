"""The commands of a host, `flask faq …` and `manage.py faq …`, for the FAQs in its templates."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from faqsvc_embed.cli.errors import CommandGroup, failure, silence_log
from faqsvc_embed.cli.forget import forget_stored
from faqsvc_embed.cli.output import print_text
from faqsvc_embed.cli.pull import pull as pull_faqs
from faqsvc_embed.errors import FAQError

if TYPE_CHECKING:
    from faqsvc_embed.embed import FAQEmbed

_COMMENT: Final = r"(?s)\{#.*?#\}|\{%-?\s*comment\b.*?endcomment\s*-?%\}|\{%-?\s*raw\s*-?%\}.*?endraw\s*-?%\}"
_TAG: Final = r"(?s)\{[{%](?:(?!\{[{%]).)*?[}%]\}"
_USE: Final = r"""\b(?:use_)?faq(?:\s*\(\s*|\s+)(?:slug\s*=\s*)?(["'])([^"']+)\1"""
_VARIABLE: Final = (
    r"(?:\b(?:use_)?faq\s*\(\s*|\A\{%-?\s*(?:use_)?faq\s+)(?:slug\s*=\s*)?(?![\w.]*\s*=)[A-Za-z_][\w.]*"
)


class Host(NamedTuple):
    """The embed and the templates of a host."""

    embed: "FAQEmbed"
    templates: Iterable[tuple[str, str]]
    """The name and the source of each template."""


def host_commands(find_host: Callable[[], Host]) -> click.Group:
    """Return the commands for a host; `find_host` is called when a command runs."""

    @click.group("faq", cls=CommandGroup)
    @click.pass_context
    def faq(context: click.Context) -> None:
        """Check, pull and forget the FAQs in the templates.

        Slugs are found where a template names them in quotes, as in {{ faq("pricing") }}.
        """
        silence_log()
        context.obj = find_host()

    for command in (list_slugs, check, pull, forget):
        faq.add_command(command)
    return faq


@click.command("list")
@click.pass_obj
def list_slugs(host: Host) -> None:
    """List the FAQs in the templates, with file and line."""
    for slug, places in slugs_in(host.templates).items():
        print_text(f"{slug}  {', '.join(places)}")


@click.command()
@click.pass_obj
def check(host: Host) -> None:
    """Fetch every FAQ in the templates, and fail if one is not published."""
    host = host._replace(templates=list(host.templates))
    slugs, missing = slugs_in(host.templates), 0
    with host.embed as embed:
        embed.prefetch(*slugs)
        for slug, places in slugs.items():
            try:
                found = embed.get_faq(slug)
                print_text(f"{slug}: published, {len(found.items)} questions")
            except FAQError as error:
                missing += 1
                print_text(f"{slug}: {error} ({', '.join(places)})")
    for place in unchecked_in(host.templates):
        print_text(f"{place}: the slug is a variable, and is not checked")
    if missing:
        raise failure(f"{missing} of {len(slugs)} FAQs in the templates cannot be shown")


@click.command(params=[option for option in pull_faqs.params if option.name not in ("slugs", "base_url")])
@click.pass_context
def pull(context: click.Context, /, **options: Any) -> None:
    """Write every FAQ in the templates to files, as `faqsvc pull` does."""
    host: Host = context.obj
    slugs = tuple(slugs_in(host.templates))
    if slugs:
        context.invoke(pull_faqs, slugs=slugs, base_url=host.embed.settings.base_url, **options)


@click.command()
@click.argument("slugs", metavar="[SLUG]...", nargs=-1)
@click.pass_obj
def forget(host: Host, slugs: tuple[str, ...]) -> None:
    """Remove FAQs, or all of them, from the store and from running processes that share it."""
    if host.embed.settings.store is None:
        raise failure("no store is set, so each process has only its own cache: restart the application")
    forget_stored(host.embed.settings, slugs)


def slugs_in(templates: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the slugs that templates name, with the places as `NAME:LINE`, both sorted."""
    places = dict[str, list[str]]()
    for name, source in sorted(templates):
        for slug, line in _uses(source):
            places.setdefault(slug, []).append(f"{name}:{line}")
    return dict(sorted(places.items()))


def unchecked_in(templates: Iterable[tuple[str, str]]) -> list[str]:
    """Return the places, as `NAME:LINE`, where a variable is the slug, such as in a block of a CMS."""
    return [
        f"{name}:{line}"
        for name, source in sorted(templates)
        if not name.startswith("faqsvc/")
        for _, line in _found(_VARIABLE, source)
    ]


def _uses(source: str) -> Iterator[tuple[str, int]]:
    for use, line in _found(_USE, source):
        yield use[2], line


def _found(pattern: str, source: str) -> Iterator[tuple[re.Match[str], int]]:
    """Yield what a pattern finds in the tags of a template, with the line."""
    source = re.sub(_COMMENT, lambda found: "\n" * found[0].count("\n"), source)
    for tag in re.finditer(_TAG, source):
        if not tag[0].lstrip("{%- ").startswith("macro"):
            for use in re.finditer(pattern, tag[0]):
                yield use, source.count("\n", 0, tag.start() + use.start()) + 1
