"""The command of a host, `flask faq check` and `manage.py faq check`, for the FAQs in its templates."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from faqsvc_embed.cli.errors import CommandGroup, failure, silence_log
from faqsvc_embed.cli.output import counted, print_text
from faqsvc_embed.errors import FAQError, FAQNotFound

if TYPE_CHECKING:
    from faqsvc_embed.embed import FAQEmbed
    from faqsvc_embed.files.folder import Folder


_COMMENT: Final = re.compile(
    r"\{#(?:(?!\{#).)*?#\}"
    r"|\{%-?\s*comment\b(?:(?!\{%-?\s*comment\b).)*?endcomment\s*-?%\}"
    r"|\{%-?\s*raw\s*-?%\}(?:(?!\{%-?\s*raw\b).)*?endraw\s*-?%\}"
    r"|<!--.*?(?:-->|\Z)",
    re.DOTALL,
)
_TAG: Final = re.compile(r"\{[{%](?:(?!\{[{%]).)*?[}%]\}", re.DOTALL)
_USE: Final = re.compile(r"""\b(?:use_)?faq(?:\s*\(\s*|\s+)(?:slug\s*=\s*)?(["'])([^"']+)\1""")
_VARIABLE: Final = re.compile(
    r"(?:\b(?:use_)?faq\s*\(\s*|\A\{%-?\s*(?:use_)?faq\s+)(?:slug\s*=\s*)?(?![\w.]*\s*=)[A-Za-z_][\w.]*"
)


class Host(NamedTuple):
    """The embed and the templates of a host."""

    embed: "FAQEmbed"
    templates: Iterable[tuple[str, str]]
    """The name and the source of each template."""


def host_commands(find_host: Callable[[], Host]) -> click.Group:
    """Return the group with the command for a host; `find_host` is called when it runs."""

    @click.group("faq", cls=CommandGroup)
    @click.pass_context
    def faq(context: click.Context) -> None:
        """Check the FAQs in the templates.

        Slugs are found where a template names them in quotes, as in {{ faq("pricing") }}.
        """
        silence_log()
        context.obj = find_host()

    faq.add_command(check)
    return faq


@click.command()
@click.pass_obj
def check(host: Host) -> None:
    """Check every FAQ in the templates.

    The files of the setting `directory` are also checked, as by `faqsvc check`. The command fails if an FAQ
    is not published, or a file has a problem.
    """
    from faqsvc_embed.cli.checks import findings
    from faqsvc_embed.files.folder import Folder

    settings, places = host.embed.settings, dict[str, list[str]]()
    for name, source in sorted(host.templates):
        for place, slug in _uses_in(name, source) if not name.startswith("faqsvc/") else ():
            if slug is None:
                print_text(f"{place}: the slug is a variable, and is not checked")
            else:
                places.setdefault(slug, []).append(place)
    folder = Folder(settings.directory, lang=settings.lang) if settings.directory else None
    missing = _unpublished(host.embed, dict(sorted(places.items())), folder)
    found = findings([folder] if folder else [])
    for line in found.lines():
        print_text(line)
    if missing or found.problems:
        raise failure(
            f"{counted(missing, 'FAQ')} missing, {counted(len(found.problems), 'problem')} in files"
        )


def _unpublished(embed: "FAQEmbed", slugs: Mapping[str, list[str]], folder: "Folder | None") -> int:
    """Print the state of each FAQ, and return how many cannot be shown."""
    missing = 0
    with embed:
        embed.prefetch(*slugs)
        for slug, places in slugs.items():
            try:
                questions = counted(len(embed.get_faq(slug).items), "question")
                print_text(f"{slug}: {'published, ' if embed.settings.base_url else ''}{questions}")
            except FAQError as error:
                missing += 1
                hint = folder.similar(slug) if folder and isinstance(error, FAQNotFound) else ""
                print_text(f"{slug}: {error}{hint} ({', '.join(places)})")
    return missing


def _uses_in(template: str, source: str) -> Iterator[tuple[str, str | None]]:
    """Yield the place of each FAQ in a template, such as `home.html:12`, and its slug; None if it varies."""
    source = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), source)
    for tag in _TAG.finditer(source):
        if tag[0].lstrip("{%- ").startswith("macro"):
            continue
        for pattern in (_USE, _VARIABLE):
            for found in pattern.finditer(tag[0]):
                line = source.count("\n", 0, tag.start() + found.start()) + 1
                yield f"{template}:{line}", found[2] if pattern is _USE else None
