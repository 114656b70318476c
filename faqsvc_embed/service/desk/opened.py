"""Describes what has happened since a form was opened."""

from collections.abc import Mapping

from faqsvc_embed.service.desk.forms import Form
from faqsvc_embed.service.storage.overview import FAQInfo, TranslationInfo


def all_seen(faq: FAQInfo) -> str:
    """Return the state of all translations, for the hidden field of a form that concerns all of them."""
    return " ".join(f"{translation.lang}.{translation.seen}" for translation in faq.translations)


def seen_by_language(text: str) -> dict[str, str]:
    """Return the state of each language, from a result of `all_seen`."""
    return dict(part.partition(".")[::2] for part in text.split())


def what_happened(before: str, now: TranslationInfo, author: str) -> str:
    """Return what has happened to a translation since the state `before` (`TranslationInfo.seen`)."""
    newest, _, rest = before.partition(".")
    published = rest.partition(".")[0]
    is_new, is_public = newest != str(now.newest), published != str(now.published)
    if is_new and is_public and now.newest == now.published:
        return f"{author} published revision {now.newest}"
    happened = [f"{author} saved revision {now.newest}"] if is_new else []
    if not now.published and published != "0":
        happened.append("it was unpublished")
    elif now.published and is_public and now.newest == now.published:
        happened.append("it was published")
    elif now.published and is_public:
        happened.append(f"revision {now.published} was published")
    elif now.seen == f"{before}-unpublished":
        happened.append("the FAQ was unpublished")
    return " and ".join(happened) or "somebody changed it"


def changed_fields(form: Form, now: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the fields that were changed in a form, and a problem for each that somebody else has changed.

    Each field `name` has a hidden field `was_name` with the value when the form was opened. A field that was
    not changed in the form keeps its current value, which may be somebody else's.
    """
    opened = {name: form.get(f"was_{name}", value) for name, value in now.items()}
    changed = {name: value for name in now if (value := form.get(name).strip()) != opened[name]}
    problems = {
        name: f"Somebody else has changed this to “{now[name]}” in the meantime. Save again to replace it."
        for name, value in changed.items()
        if now[name] not in (opened[name], value)
    }
    return changed, problems
