"""The client of an FAQ service: one method for each route, and its asynchronous twin."""

from copy import copy
from typing import Literal, Self, Unpack

from faqsvc_embed.api.contract import FAQSummary, Preview, Revision, State
from faqsvc_embed.api.publish_request import ChangeFields, Changes, GenerateFields, PublishFields
from faqsvc_embed.api.publish_response import GeneratedItem, StoredRevision
from faqsvc_embed.api.responses import Fetched
from faqsvc_embed.client.methods import AsyncMethods
from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.models import FAQ
from faqsvc_embed.models.wire import Publication
from faqsvc_embed.runtime.threads import at_once, to_thread
from faqsvc_embed.settings import ClientOptions, Settings, changed, with_hidden_keys
from faqsvc_embed.settings import validators as accept
from faqsvc_embed.settings.api_key import MALFORMED, NOT_A_KEY, APIKey


class FAQClient(AsyncMethods):
    """The REST interface of one service; every method has an `async` twin that begins with `a`.

    Settings are keywords, `FAQSVC_` environment variables, or one `settings` value; keywords win. With an API
    key, `base_url` must use https, unless its host is this machine or named in `insecure_hosts`.
    `generate_faq` may take `generation_timeout` seconds. Threads and event loops can share a client;
    creating one opens no socket and starts no thread.

    Every request is sent once and nothing is cached, so a read sees every earlier write. Embeds of the same
    service in this process forget an FAQ after a write has changed it.

    Besides the errors that a method lists, methods that need the API key raise `AuthenticationError` (the key
    is missing, not accepted, or lacks the scope), `RateLimited` and `FAQUnavailable`. A write that was sent
    and got no response raises `errors.OutcomeUnknown`. The `code` of an error is the code that the service
    sent, such as `gone`.

    Raises:
        ConfigurationError: a setting is invalid, `base_url` is not set, or the key would be sent in clear.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | APIKey | None = None,
        *,
        settings: Settings | None = None,
        generation_timeout: float = 60.0,
        **overrides: Unpack[ClientOptions],
    ) -> None:
        given = with_hidden_keys({"base_url": base_url, "api_key": api_key})
        overrides = with_hidden_keys(overrides)
        del base_url, api_key  # tracebacks show local variables
        given = {name: value for name, value in given.items() if value is not None}
        settings = _checked(changed(settings, {**overrides, **given}))
        try:
            timeout = accept.timeout(generation_timeout)
        except ValueError as error:
            raise ConfigurationError(f"generation_timeout is {quoted(generation_timeout)}: {error}") from None
        super().__init__(settings, timeout)

    def with_key(self, api_key: str | APIKey) -> Self:
        """Return a client with another API key over the same connections; closing either closes them.

        Raises:
            ConfigurationError: it is not an API key, or would be sent in clear.
        """
        key = accept.api_key(api_key)
        del api_key  # tracebacks show local variables
        client = copy(self)
        client.settings = _checked(self.settings.replace(api_key=key))
        return client

    @property
    def _blocking(self) -> AsyncMethods:
        """The methods that block, without those that a subclass of this class has replaced."""
        methods = object.__new__(AsyncMethods)
        vars(methods).update(vars(self), _blocks=True)
        return methods

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def close(self) -> None:
        """Close the connections and stop the background thread within a second; later calls restart it."""
        self._background.close()

    async def aclose(self) -> None:
        """Close the client without blocking the event loop."""
        await to_thread(self.close)

    def get_faq(self, slug: str, *, lang: str | None = None) -> FAQ:
        """Return the current version of an FAQ. Caches on the way must revalidate their responses.

        Raises:
            FAQNotFound: there is no FAQ with this slug; FAQGone, if it was unpublished.
            FAQUnavailable: there was no usable response within `timeout` seconds.
            InvalidFAQ: the response is not an FAQ.
        """
        return at_once(self._blocking.aget_faq(slug, lang=lang))

    def get_published(self, slug: str, *, lang: str | None = None) -> Fetched:
        """Return the current version of an FAQ with its `revision` and `validators`, as `get_faq` does.

        Pass `validators.etag` as `if_match` of a write.
        """
        return at_once(self._blocking.aget_published(slug, lang=lang))

    def publish_faq(self, **publication: Unpack[PublishFields]) -> Publication:
        """Publish an FAQ. Each item is an `Item`, a mapping, or a (question, answer) pair.

        `website_url`, `website_name` and `items` are required. With `slug`, this writes a new revision of
        that FAQ, or creates it; without, it creates an FAQ under a slug that the service chooses. `lang` is
        detected by default; `answer_format` is `text` or `markdown`. With `draft`, the revision is not
        published. `if_match` is the `etag` of a publication: this call fails if somebody has written since.
        `if_none_match="*"` only creates an FAQ, and fails if there is one.

        The request is sent once. If it ends without a response, the FAQ may have been published; with an
        `idempotency_key`, 1 to 255 visible ASCII characters, another attempt makes no second FAQ.

        Raises:
            PublishRejected: a field is invalid, or the service refused the FAQ (400, 409, 413, 415, 422);
                `problems` has every reason, with the index of the item.
            RevisionConflict: `if_match` is not the newest revision (412).
            FAQGone: the FAQ is in the bin, or was deleted for ever.
            OutcomeUnknown: there was no usable response within `timeout` seconds.
        """
        return at_once(self._blocking.apublish_faq(**publication))

    def change_faq(self, slug: str, changes: Changes, **change: Unpack[ChangeFields]) -> Publication:
        """Change some questions of the newest revision; the others stay byte for byte as they are.

        `changes` are mappings, applied in order. Each names a question by its text, in any spelling, or by
        its `"id"`: `{"question", "answer"}` replaces the answer, `{"question", "newQuestion"}` renames it,
        `{"question", "remove": True}` removes it, `{"question", "section"}` moves it to the end of a section,
        `{"question", "after"}` after another question, and `{"question", "id"}` gives it an id.
        `{"question", "answer", "add": True}` adds a question, also with `"section"`, `"after"` and `"id"`.

        `if_match` is required: the `etag` of the revision that was read. `title`, `introduction` and
        `answer_format` are replaced too if they are given, and `changes` may then be empty; an empty
        `introduction` removes it. By default, `lang` is the default language of the FAQ. With `draft`, the
        revision is not published.

        Raises:
            PublishRejected: a change cannot be applied (422); none is, and `problems` has every reason. The
                `code` is `unknown-question` if no question has the name, and the reason has the closest ones.
            RevisionConflict: somebody has changed the FAQ since it was read (412); `current` has the newest
                revision with its items.
            FAQNotFound: the site has no such FAQ, or not in this language.
            OutcomeUnknown: there was no usable response within `timeout` seconds.
        """
        return at_once(self._blocking.achange_faq(slug, changes, **change))

    def list_faqs(
        self, *, text: str | None = None, state: State | None = None, lang: str | None = None
    ) -> list[FAQSummary]:
        """Return the FAQs of the key's site, the last changed first.

        `text`, `state` and `lang` filter them: by a text in them, by their state and by their languages.
        """
        return at_once(self._blocking.alist_faqs(text=text, state=state, lang=lang))

    def revisions(self, slug: str, *, lang: str | None = None) -> list[Revision]:
        """Return the history of an FAQ in `lang` or its default language, newest first.

        Raises:
            FAQNotFound: the site has no such FAQ, or not in this language.
        """
        return at_once(self._blocking.arevisions(slug, lang=lang))

    def get_revision(self, slug: str, number: int, *, lang: str | None = None) -> StoredRevision:
        """Return one revision with its content: a draft, the published one, or an earlier one.

        Raises:
            FAQNotFound: the site has no such revision.
        """
        return at_once(self._blocking.aget_revision(slug, number, lang=lang))

    def newest_revision(self, slug: str, *, lang: str | None = None) -> StoredRevision:
        """Return the newest revision, which may be a draft, as `get_revision` does."""
        return at_once(self._blocking.anewest_revision(slug, lang=lang))

    def publish_revision(self, slug: str, number: int, *, lang: str | None = None) -> Publication:
        """Publish a draft, or an earlier revision again under a new number, which undoes later ones.

        Raises:
            FAQNotFound: the site has no such revision.
        """
        return at_once(self._blocking.apublish_revision(slug, number, lang=lang))

    def unpublish_faq(
        self, slug: str, *, lang: str | None = None, purge: bool | Literal["now"] = False
    ) -> None:
        """Unpublish an FAQ, or its translation into `lang`, and keep the history.

        Readers get 410; those of a translation get another language, if one is still published.
        `purge=True` also moves it to the bin, from which `restore_faq` brings it back for 30 days.
        `purge="now"` is for deletion required by law: it deletes all texts for ever, and reserves the slug.

        Raises:
            FAQNotFound: the site has no such FAQ, or not in this language.
        """
        at_once(self._blocking.aunpublish_faq(slug, lang=lang, purge=purge))

    def restore_faq(self, slug: str) -> FAQSummary:
        """Bring an FAQ back from the bin, or publish again what was unpublished last, in every language.

        Raises:
            FAQNotFound: there is nothing to bring back.
        """
        return at_once(self._blocking.arestore_faq(slug))

    def preview_faq(self, slug: str, *, lang: str | None = None) -> Preview:
        """Return a token that shows the newest revision, which may be a draft, until `expires_at`.

        A page with `?faq_preview=TOKEN` shows it to the visitor who has the token.

        Raises:
            FAQNotFound: the site has no such FAQ, or not in this language.
        """
        return at_once(self._blocking.apreview_faq(slug, lang=lang))

    def generate_faq(self, website_url: str, **options: Unpack[GenerateFields]) -> list[GeneratedItem]:
        """Return questions and answers that the service finds on a website; nothing is stored.

        The options are `lang`, and `count`, the maximum number of items. Each item has a `source`:
        the address it comes from. The call takes at most `generation_timeout` seconds.

        Raises:
            PublishRejected: an option is invalid, or the website cannot be read (`unreadable-website`).
            FAQNotFound: the service does not generate FAQs.
        """
        return at_once(self._blocking.agenerate_faq(website_url, **options))


def _checked(settings: Settings) -> Settings:
    """Return the settings of a client; raise ConfigurationError unless they name a service for the key."""
    if settings.api_key == MALFORMED:
        raise ConfigurationError(f"api_key: {NOT_A_KEY}")
    if not settings.base_url:
        raise ConfigurationError(
            "base_url is not set: pass FAQClient(base_url=…) or set FAQSVC_BASE_URL "
            "to the address of the FAQ service, such as https://faq.example.com"
        )
    if settings.api_key is not None and accept.sends_in_clear(settings.base_url, settings.insecure_hosts):
        raise ConfigurationError(
            f"base_url is {quoted(settings.base_url)}: an API key is sent over https only; use https, or "
            f"name the host in insecure_hosts if its network is trusted"
        )
    return settings
