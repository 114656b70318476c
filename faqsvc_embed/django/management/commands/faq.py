"""`manage.py faq list|check|pull|forget`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from faqsvc_embed.cli.host import Host, host_commands
from faqsvc_embed.django.apps import faqs_from

FOLDERS = ("templates", "jinja2")
"""Folders in which the template backends of Django search in each application."""


class Command(BaseCommand):
    """Runs the commands `list`, `check`, `pull` and `forget`."""

    help = (
        "list: the FAQs in the templates. check: fail if one of them is not published. "
        "pull: write them to files. forget: remove them from the store and from processes that share it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of all commands."""
        parser.add_argument("action", choices=("list", "check", "pull", "forget"))
        parser.add_argument("slugs", nargs="*", metavar="SLUG", help="FAQs to forget; by default all")
        parser.add_argument("--to", metavar="DIR", help="where to write the files of pull")
        parser.add_argument("--lang", action="append", help="a language to pull; may be repeated")
        parser.add_argument("--check", action="store_true", help="let pull only compare the files")

    def handle(self, *_: Any, action: str, slugs: list[str], **options: Any) -> None:
        """Run a command, which prints."""
        given = [("--to", options["to"]), *(("--lang", code) for code in options["lang"] or ())]
        arguments = [action, *slugs, *(part for pair in given if pair[1] is not None for part in pair)]
        arguments += ["--check"] if options["check"] else []
        commands = host_commands(lambda: Host(faqs_from(), _templates()))
        try:
            commands.main(arguments, prog_name="manage.py faq", standalone_mode=False)
        except click.ClickException as error:
            raise CommandError(error.format_message(), returncode=error.exit_code) from None


def _templates() -> Iterator[tuple[str, str]]:
    """Yield the name and the source of each file in the folders of the project's templates."""
    folders = [Path(folder) for engine in settings.TEMPLATES for folder in engine.get("DIRS", ())]
    folders += [Path(app.path) / name for app in apps.get_app_configs() for name in FOLDERS]
    for folder in dict.fromkeys(folders):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                yield path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8", errors="replace")
