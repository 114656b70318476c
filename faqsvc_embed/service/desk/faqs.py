"""The list of FAQs, the pages of one FAQ besides its editor (history, use, removal), and the bin."""

from contextlib import suppress
from datetime import datetime
from typing import Any, Final, Literal, cast

from markupsafe import Markup
from starlette.responses import Response

from faqsvc_embed.api.contract import PREVIEW_PARAMETER, State
from faqsvc_embed.api.fields import Lang, WebsiteURL
from faqsvc_embed.api.requests import with_query
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.errors import FAQNotFound
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models.wire import Publication
from faqsvc_embed.service.context import npm_package
from faqsvc_embed.service.desk.differences import changes
from faqsvc_embed.service.desk.draft import ADDRESS, Draft
from faqsvc_embed.service.desk.forms import completed, number_of
from faqsvc_embed.service.desk.visit import PAGE_SIZE, Refused, Visit, path_of, redirect, render
from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.pages.hosted import image_source
from faqsvc_embed.service.storage.overview import Filter
from faqsvc_embed.service.storage.removal import BIN_LIFETIME
from faqsvc_embed.service.storage.values import Preconditions
from faqsvc_embed.text import normalized

STATES: Final = {"published": "Published", "draft": "Draft", "unpublished": "Unpublished"}
MAX_BLOCKED: Final = 500
"""Blocked slugs on the page of the bin."""


def show_list(visit: Visit) -> Response:
    """GET: the FAQs of the site, the last changed first, fifty on a page."""
    lang, state = visit.query("lang"), visit.query("state")
    wanted = Filter(
        search=visit.query("q").strip(),
        lang=cast("Lang", lang) if lang in LANGUAGES else None,
        state=cast("State", state) if state in STATES else None,
    )
    site, overview = visit.site, visit.storage.overview
    found, next_ = overview.page(site.id, wanted, limit=PAGE_SIZE, after=visit.after)
    is_filtered = wanted != Filter()
    return render(
        visit,
        "list.html",
        site_name=site.given_name,
        faqs=found,
        wanted=wanted,
        total=site.faq_count if not is_filtered else 0 if visit.after else len(found),
        known=overview.published_languages(site.id) if found else [],
        is_filtered=is_filtered,
        states=STATES,
        next=next_,
    )


def show_revision(visit: Visit) -> Response:
    """GET …/history/{number}: a whole revision, as readers saw it or would see it."""
    faq = visit.faq
    translation = visit.translation(faq)
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
        html=draft.preview().replace(Markup("<details "), Markup("<details open ")),  # no answer is hidden
        images=image_source(draft.record()),
    )


def show_history(visit: Visit) -> Response:
    """GET …/history: the revisions, newest first, and the differences between two of them."""
    faq, history = visit.faq, visit.storage.history
    translation = visit.translation(faq)
    lang = translation.lang
    found, next_ = history.revisions(visit.access, faq.slug, lang, limit=PAGE_SIZE, after=visit.after)
    numbers = [revision.number for revision in found]
    new = number_of(visit.query("new")) or (numbers[0] if numbers else 0)
    earlier = (revision.number for revision in found if revision.published_at and revision.number < new)
    old = number_of(visit.query("old")) or next(earlier, max(new - 1, 0))  # what readers saw before
    return render(
        visit,
        "history.html",
        faq=faq,
        lang=lang,
        revisions=found,
        next=next_,
        numbers=sorted({old, new, *numbers}, reverse=True),
        old=old,
        new=new,
        version=translation.version,
        changes=changes(*(visit.draft(faq.slug, lang, number) for number in (old, new))) if old else None,
    )


def publish(visit: Visit) -> Response:
    """POST …/history: publish a draft, or an earlier revision again."""
    visit.require("publish")
    number = number_of(visit.form.get("number"))
    lang = visit.form.get("lang")
    if number is None or lang not in LANGUAGES:
        raise FAQNotFound(f"There is no revision {visit.form.get('number')[:20]!r}")
    unchanged = Preconditions(versions={lang: visit.form.get("version")})
    visit.storage.writer.publish(visit.access, visit.slug, number, cast("Lang", lang), unchanged)
    return redirect(visit, f"{path_of(visit.slug)}?lang={lang}&done=published")


def show_use(visit: Visit) -> Response:
    """GET …/use: the code that shows an FAQ on a website; after its form, with preview links."""
    faq = visit.faq
    draft = visit.draft(faq.slug, faq.lang)
    return render(
        visit,
        "use.html",
        faq=faq,
        lang=visit.translation(faq).lang,
        base=visit.urls.base,
        code=Publication(faq.slug),
        package=npm_package(),  # only if the operator names a package: npm has none of the specified name
        links=visit.shown.get("links"),
        page=visit.form.get("page") or draft.page_url or draft.website_url,
        hosted=visit.urls.page(faq.slug),
    )


def create_preview(visit: Visit) -> Response:
    """POST …/use: links that show the newest revisions, drafts included, for an hour."""
    faq, page = visit.faq, completed(visit.form.get("page").strip())
    if page and field_problems("", page, WebsiteURL):
        raise Refused(422, {"page": ADDRESS})
    lang = visit.translation(faq).lang
    token, _ = visit.storage.history.create_preview(visit.access, faq.slug, lang)
    parameters = {PREVIEW_PARAMETER: token, "lang": lang}
    hosted, host = (url and with_query(url, **parameters) for url in (visit.urls.page(faq.slug), page))
    return show_use(visit.showing(links={"hosted": hosted, "host": host, "page": page, "lang": lang}))


def show_removal(visit: Visit) -> Response:
    """GET …/remove: the forms, which say what readers will see."""
    faq = visit.faq
    published = [translation for translation in faq.translations if translation.published]
    # The version of all translations, for forms that concern all of them.
    version = " ".join(f"{translation.lang}.{translation.version}" for translation in faq.translations)
    return render(visit, "removal.html", faq=faq, lang=faq.lang, published=published, version=version)


def remove(visit: Visit) -> Response:
    """POST …/remove: unpublish all languages or one, or publish again what was unpublished last.

    Admins can move the FAQ to the bin, or delete it for ever if they type its slug.
    """
    removal = visit.storage.removal
    action, lang, typed = (visit.form.get(name) for name in ("action", "lang", "typed"))
    problems = field_problems("action", action, Literal["unpublish", "restore", "bin", "purge"])
    if problems := problems + field_problems("lang", lang or None, Lang | None):
        raise Problem.invalid(*problems)
    versions = dict(part.partition(".")[::2] for part in visit.form.get("version").split())
    unchanged = Preconditions(versions=versions)
    page = f"{path_of(visit.slug)}/remove"
    if action in ("bin", "purge"):
        visit.require("admin")
    if action == "purge" and typed.strip() != visit.slug.strip():
        raise Refused(422, {"typed": f"Nothing was deleted. To delete it, type {visit.slug}"})
    if action == "restore":
        removal.restore(visit.access, visit.slug, unchanged)
        return redirect(visit, f"{page}?done=published")
    remove = {"unpublish": removal.unpublish, "bin": removal.bin, "purge": removal.purge}[action]
    remove(visit.access, visit.slug, cast("Lang | None", lang or None), unchanged)
    return redirect(visit, f"{page if action == 'unpublish' else '/bin'}?done={action}")


def show_bin(visit: Visit) -> Response:
    """GET /desk/bin: the FAQs and translations that can be restored, and the blocked slugs."""
    site, overview = visit.access.site, visit.storage.overview
    binned, next_ = overview.page(site, Filter(state="binned"), limit=PAGE_SIZE, after=visit.after)
    blocked = overview.blocked(site, MAX_BLOCKED + 1)
    context: dict[str, Any] = {"blocked": blocked[:MAX_BLOCKED], "lifetime": BIN_LIFETIME}
    has_more = len(blocked) > MAX_BLOCKED
    return render(visit, "bin.html", binned=binned, next=next_, has_more_blocked=has_more, **context)


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
    visit.storage.removal.restore(visit.access, slug, Preconditions(binned_at=binned_at))
    return redirect(visit, f"{path_of(slug)}?done=restored")
