"""The version of what a form shows, in its field `version`: what its writer saw."""

from collections.abc import Mapping

import msgspec

from faqsvc_embed.service.desk.forms import Form
from faqsvc_embed.service.storage.overview import FAQInfo
from faqsvc_embed.service.storage.values import Revision


def of_all(faq: FAQInfo) -> str:
    """Return the version of all translations, for a form that concerns all of them."""
    return " ".join(f"{translation.lang}.{translation.version}" for translation in faq.translations)


def by_language(version: str) -> dict[str, str]:
    """Return the version of each language, from a result of `of_all`."""
    return dict(part.partition(".")[::2] for part in version.split())


def what_happened(before: str, now: Revision, author: str) -> str:
    """Return what has happened to a translation since the version `before`."""
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
    elif now.version == f"{before}-unpublished":
        happened.append("the FAQ was unpublished")
    return " and ".join(happened) or "somebody changed it"


def of_values(values: Mapping[str, str]) -> str:
    """Return the version of a form of settings, which has all their values."""
    return msgspec.json.encode(values).decode()


def changed_fields(form: Form, now: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the fields that were changed in a form, and a problem for each that somebody else has changed.

    A field that was not changed in the form keeps its current value, which may be somebody else's.
    """
    try:
        opened = {**now, **msgspec.json.decode(form.get("version"), type=dict[str, str])}
    except msgspec.MsgspecError:
        opened = dict(now)
    changed = {name: value for name in now if (value := form.get(name).strip()) != opened[name]}
    problems = {
        name: f"Somebody else has changed this to “{now[name]}” in the meantime. Save again to replace it."
        for name, value in changed.items()
        if now[name] not in (opened[name], value)
    }
    return changed, problems
