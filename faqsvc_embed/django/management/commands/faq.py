"""`manage.py faq check`."""

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
    """Runs the command `check`."""

    help = "check: fail if an FAQ in the templates is not published, or a file has a problem."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of all commands."""
        parser.add_argument("action", choices=("check",))

    def handle(self, *_: Any, action: str, **options: Any) -> None:
        """Run a command, which prints."""
        commands = host_commands(lambda: Host(faqs_from(), _templates()))
        try:
            commands.main([action], prog_name="manage.py faq", standalone_mode=False)
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
