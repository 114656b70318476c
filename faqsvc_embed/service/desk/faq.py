"""The pages of one FAQ besides its editor: history, the code that shows it, removal; and the bin."""

from contextlib import suppress
from datetime import datetime
from typing import Any, Final, Literal, cast
from urllib.parse import parse_qsl, quote, urlencode

from markupsafe import Markup
from starlette.responses import Response

from faqsvc_embed.api.contract import PREVIEW_PARAMETER
from faqsvc_embed.api.fields import Lang, WebsiteURL
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.errors import FAQNotFound
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models.wire import Publication
from faqsvc_embed.service.config import npm_package
from faqsvc_embed.service.desk.differences import Change, changes
from faqsvc_embed.service.desk.draft import ADDRESS, Draft
from faqsvc_embed.service.desk.editor_page import preview_of
from faqsvc_embed.service.desk.forms import completed, number_of
from faqsvc_embed.service.desk.pages import PAGE_SIZE, redirect, render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.pages.html import image_source
from faqsvc_embed.service.storage.overview import FAQInfo, Filter
from faqsvc_embed.service.storage.removal import BIN_LIFETIME
from faqsvc_embed.service.storage.values import Preconditions, Revision, RevisionConflict
from faqsvc_embed.text import normalized

MAX_BLOCKED: Final = 500
"""Blocked slugs on the page of the bin."""
NOT_RESTORED: Final = (
    "Nothing was restored, because somebody restored or deleted it since you opened the page."
)
CHANGED: Final = "Nothing was done, because somebody changed this FAQ since you opened the page."


def show_revision(visit: Visit) -> Response:
    """GET …/history/{number}: a whole revision, as readers saw it or would see it."""
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    translation = faq.translation(visit.query("lang")) or faq.translations[0]
    if (number := number_of(visit.part("number"))) is None:
        raise FAQNotFound("There is no such revision")
    revision = visit.revision(faq.slug, translation.lang, number)
    draft = Draft.of_revision(revision)
    return render(
        visit,
        "revision.html",
        faq=faq,
        lang=translation.lang,
        version=translation.version,
        newest=translation.newest,
        revision=revision,
        html=preview_of(draft).replace(Markup("<details "), Markup("<details open ")),  # no answer is hidden
        images=image_source(draft.record()),
    )


def show_history(visit: Visit, status: int = 200, *, lang: str = "", note: str = "") -> Response:
    """GET …/history: the revisions, newest first, and the differences between two of them."""
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    translation = faq.translation(lang or visit.query("lang")) or faq.translations[0]
    lang = translation.lang
    revisions = visit.storage.history.revisions
    found, next_ = revisions(visit.access, faq.slug, lang, limit=PAGE_SIZE, after=visit.after)
    numbers = [revision.number for revision in found]
    new = number_of(visit.query("new")) or (numbers[0] if numbers else 0)
    seen = (revision.number for revision in found if revision.published_at and revision.number < new)
    old = number_of(visit.query("old")) or next(seen, new - 1)  # the revision that readers saw before
    return render(
        visit,
        "history.html",
        status,
        faq=faq,
        lang=lang,
        revisions=found,
        next=next_,
        numbers=sorted({old, new, *numbers}, reverse=True),
        old=old,
        new=new,
        version=translation.version,
        note=note,
        changes=_differences(visit, lang, old, new),
    )


def publish(visit: Visit) -> Response:
    """POST …/history: publish a draft, or an earlier revision again."""
    visit.require("publish")
    number = number_of(visit.form.get("number"))
    lang = visit.form.get("lang")
    if number is None or lang not in LANGUAGES:
        raise FAQNotFound(f"There is no revision {visit.form.get('number')[:20]!r}")
    before = visit.form.get("version")
    unchanged = Preconditions(versions={lang: before})
    try:
        visit.storage.writer.publish(visit.access, visit.slug, number, cast("Lang", lang), unchanged)
    except RevisionConflict as conflict:
        happened = what_happened(before, conflict.current) if conflict.current else "it was deleted"
        note = f"Nothing was done, because {happened} since you opened the page."
        return show_history(visit, 409, lang=lang, note=note)
    return redirect(visit, f"/faqs/{quote(visit.slug, safe='')}?lang={lang}&done=published")


def _differences(visit: Visit, lang: str, old: int, new: int) -> list[Change] | None:
    """Return the differences between two revisions, or None if one does not exist."""
    try:
        drafts = [Draft.of_revision(visit.revision(visit.slug, lang, number)) for number in (old, new)]
    except FAQNotFound:
        return None
    return changes(*drafts)


def what_happened(before: str, now: Revision) -> str:
    """Return what has happened to a translation since the version `before`."""
    newest, published, _ = f"{before}..".split(".", 2)
    author, happened = now.author or "somebody", list[str]()
    is_public = published != str(now.published or 0)
    if newest != str(now.newest):
        if is_public and now.newest == now.published:
            return f"{author} published revision {now.newest}"
        is_earlier = now.newest < (number_of(newest) or 0)
        happened.append("the draft was discarded" if is_earlier else f"{author} saved revision {now.newest}")
    if is_public:
        happened.append(f"revision {now.published} was published" if now.published else "it was unpublished")
    unchanged = "the FAQ was unpublished" if now.is_unpublished else "somebody changed it"
    return " and ".join(happened) or unchanged


def show_use(
    visit: Visit, status: int = 200, *, links: dict[str, str] | None = None, page: str = "", **context: Any
) -> Response:
    """GET …/use: the code that shows an FAQ on a website."""
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    lang = links["lang"] if links else visit.query("lang")
    draft = Draft.of_revision(visit.revision(faq.slug, faq.lang))
    context |= {
        "faq": faq,
        "lang": lang if faq.translation(lang) else faq.lang,
        "base": visit.urls.base,
        "code": Publication(faq.slug),
        "package": npm_package(),  # only if the operator names a package: npm has none of the specified name
        "links": links,
        "page": page or draft.page_url or draft.website_url,
        "hosted": visit.urls.page(faq.slug),
    }
    return render(visit, "use.html", status, **context)


def create_preview(visit: Visit) -> Response:
    """POST …/use: links that show the newest revisions, drafts included, for an hour."""
    lang = visit.form.get("lang")
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    if faq.translation(lang) is None:
        lang = faq.lang
    token, _ = visit.storage.history.create_preview(visit.access, faq.slug, lang)
    parameters = {PREVIEW_PARAMETER: token, "lang": lang}
    hosted = f"{visit.urls.page(faq.slug)}?{urlencode(parameters)}"
    links, problems = {"hosted": hosted, "host": "", "lang": lang}, dict[str, str]()
    if page := completed(visit.form.get("page").strip()):
        if field_problems("", page, WebsiteURL):
            problems["page"] = ADDRESS
        else:
            links["host"] = _with_parameters(page, parameters)
    return show_use(visit, 422 if problems else 200, links=links, page=page, problems=problems)


def _with_parameters(url: str, parameters: dict[str, str]) -> str:
    """Return the address of a page with parameters added."""
    url, hash_, fragment = url.partition("#")
    address, _, query = url.partition("?")
    kept = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in parameters]
    return f"{address}?{urlencode([*kept, *parameters.items()])}{hash_}{fragment}"


def show_removal(visit: Visit, status: int = 200, **context: Any) -> Response:
    """GET …/remove: the forms, which say what readers will see."""
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    published = [translation for translation in faq.translations if translation.published]
    context |= {"faq": faq, "lang": faq.lang, "published": published, "version": _version_of_all(faq)}
    return render(visit, "removal.html", status, **context)


def remove(visit: Visit) -> Response:
    """POST …/remove: unpublish all languages or one, or publish again what was unpublished last.

    Admins can move the FAQ to the bin, or delete it for ever if they type its slug.
    """
    removal = visit.storage.removal
    action, lang, typed = (visit.form.get(name) for name in ("action", "lang", "typed"))
    problems = field_problems("action", action, Literal["unpublish", "restore", "bin", "purge"])
    if problems := problems + field_problems("lang", lang or None, Lang | None):
        raise Problem.invalid(*problems)
    unchanged = Preconditions(versions=_by_language(visit.form.get("version")))
    page = f"/faqs/{quote(visit.slug, safe='')}/remove"
    if action in ("bin", "purge"):
        visit.require("admin")
    if action == "purge" and typed.strip() != visit.slug.strip():
        problem = f"Nothing was deleted. To delete it, type {visit.slug}"
        return show_removal(visit, 422, problems={"typed": problem})
    try:
        if action == "bin":
            removal.bin(visit.access, visit.slug, None, unchanged)
            return redirect(visit, "/bin?done=deleted")
        if action == "purge":
            removal.purge(visit.access, visit.slug, None, unchanged)
            return redirect(visit, "/bin?done=purged")
        if action == "restore":
            removal.restore(visit.access, visit.slug, unchanged)
            return redirect(visit, f"{page}?done=again")
        removal.unpublish(visit.access, visit.slug, cast("Lang | None", lang or None), unchanged)
    except RevisionConflict:
        return show_removal(visit, 409, note=CHANGED)
    return redirect(visit, f"{page}?done=unpublished")


def show_bin(visit: Visit, status: int = 200, **context: Any) -> Response:
    """GET /desk/bin: the FAQs and translations that can be restored, and the blocked slugs."""
    site = visit.access.site
    context["binned"], context["next"] = visit.storage.overview.page(
        site, Filter(state="binned"), limit=PAGE_SIZE, after=visit.after
    )
    blocked = visit.storage.overview.blocked(site, MAX_BLOCKED + 1)
    context |= {"blocked": blocked[:MAX_BLOCKED], "has_more_blocked": len(blocked) > MAX_BLOCKED}
    return render(visit, "bin.html", status, lifetime=BIN_LIFETIME, **context)


def restore(visit: Visit) -> Response:
    """POST /desk/bin: restore an FAQ, or allow a blocked slug to be used again."""
    action, slug = visit.form.get("action"), normalized("NFC", visit.form.get("slug"))
    if problems := field_problems("action", action, Literal["restore", "unblock"]):
        raise Problem.invalid(*problems)
    if action == "unblock":
        visit.require("admin")
        visit.storage.removal.unblock(slug, visit.access)
        return redirect(visit, "/bin?done=unblocked")
    binned_at = None
    with suppress(ValueError):
        binned_at = datetime.fromisoformat(visit.form.get("version"))
    try:
        visit.storage.removal.restore(visit.access, slug, Preconditions(binned_at=binned_at))
    except RevisionConflict:
        return show_bin(visit, 409, note=NOT_RESTORED)
    return redirect(visit, f"/faqs/{quote(slug, safe='')}?done=restored")


def _version_of_all(faq: FAQInfo) -> str:
    """Return the version of all translations, for a form that concerns all of them."""
    return " ".join(f"{translation.lang}.{translation.version}" for translation in faq.translations)


def _by_language(version: str) -> dict[str, str]:
    """Return the version of each language, from a result of `_version_of_all`."""
    return dict(part.partition(".")[::2] for part in version.split())
