"""The field `version` of forms: what their writers saw, so that nobody overwrites unseen changes."""

from collections.abc import Callable, Mapping

import msgspec
from starlette.responses import Response

from faqsvc_embed.service.desk.pages import redirect
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.storage.overview import FAQInfo
from faqsvc_embed.service.storage.values import Revision


def of_all(faq: FAQInfo) -> str:
    """Return the version of all translations, for a form that concerns all of them."""
    return " ".join(f"{translation.lang}.{translation.version}" for translation in faq.translations)


def by_language(version: str) -> dict[str, str]:
    """Return the version of each language, from a result of `of_all`."""
    return dict(part.partition(".")[::2] for part in version.split())


def what_happened(before: str, now: Revision) -> str:
    """Return what has happened to a translation since the version `before`."""
    author = now.author or "somebody"
    newest, _, rest = before.partition(".")
    published = rest.partition(".")[0]
    is_new, is_public = newest != str(now.newest), published != str(now.published)
    if is_new and is_public and now.newest == now.published:
        return f"{author} published revision {now.newest}"
    if is_new and not is_public and now.newest == now.published:
        return "the draft was discarded"
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


def save_settings(
    visit: Visit,
    now: Mapping[str, str],
    write: Callable[[dict[str, str]], dict[str, str]],
    page: Callable[..., Response],
) -> Response:
    """Save the fields that were changed in a form of settings whose current values are `now`.

    `write` gets them, and returns what is wrong with each; `page` shows the form again. A field that was
    not changed in the form keeps its current value, which may be somebody else's.
    """
    try:
        opened = {**now, **msgspec.json.decode(visit.form.get("version"), type=dict[str, str])}
    except msgspec.MsgspecError:
        opened = dict(now)
    changed = {name: value for name in now if (value := visit.form.get(name).strip()) != opened[name]}
    theirs = {
        name: f"Somebody else has changed this to “{now[name]}” in the meantime. Save again to replace it."
        for name, value in changed.items()
        if now[name] not in (opened[name], value)
    }
    if problems := theirs or write(changed):
        return page(visit, 409 if theirs else 422, problems=problems, typed=changed)
    return redirect(visit, f"{visit.path}?done=saved")
