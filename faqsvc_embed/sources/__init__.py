"""Where FAQs come from: a service, a folder of files, or the host itself.

Start with `open_source`, which chooses by the settings. `cache.source` is the interface of a source; a new
source is a class with that interface and an entry here.
"""

from faqsvc_embed.cache.entry import Key
from faqsvc_embed.cache.source import BaseSource, source_name
from faqsvc_embed.errors import ConfigurationError, FAQUnavailable
from faqsvc_embed.models import FAQState
from faqsvc_embed.settings import Settings


class NoSource(BaseSource):
    """The source of an embed that is offline and has no folder: it has no FAQs."""

    is_local = True

    def __init__(self, settings: Settings) -> None:
        self.name: str = source_name(settings)

    def look_up(self, key: Key) -> FAQState:
        message = f"FAQ {key.slug!r}: offline=True needs directory='FOLDER' with FAQ files"
        return FAQState(error=FAQUnavailable(message), lang_requested=key.lang)


def open_source(settings: Settings) -> BaseSource:
    """Return the source in the settings; the files of a folder are read now.

    Raises:
        ConfigurationError: the settings have no source, two that exclude each other, or an invalid folder.
    """
    beside = [name for name in ("base_url", "directory") if getattr(settings, name)]
    if settings.source is not None and beside:
        raise ConfigurationError(
            f"source is set beside {' and '.join(beside)}: FAQs come from one source, so remove one of them"
        )
    if settings.source is None and not beside:
        raise ConfigurationError(
            'no source of FAQs is set: pass directory="faqs" for a folder of files, '
            'base_url="https://faq.example.com" for a service, or source=… for an object with '
            "get(slug, lang); or set FAQSVC_DIRECTORY, FAQSVC_BASE_URL or FAQSVC_SOURCE in the environment, "
            "in Flask's config or in Django's settings"
        )
    # Imported here, because most hosts need one of them.
    folder = None
    if settings.directory is not None:
        from faqsvc_embed.sources.folder import FolderSource

        folder = FolderSource(settings, settings.directory)
        if settings.offline or not settings.base_url:
            return folder
    if settings.offline:
        return NoSource(settings)
    if settings.source is not None:
        from faqsvc_embed.sources.host import HostSource

        return HostSource(settings, settings.source)
    from faqsvc_embed.sources.service import ServiceSource

    return ServiceSource(settings, folder)
