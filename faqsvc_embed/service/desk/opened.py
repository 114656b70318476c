"""What happened to an FAQ since a form was opened, in words."""

from faqsvc_embed.service.storage.overview import FAQInfo, TranslationInfo


def all_seen(faq: FAQInfo) -> str:
    """Return what a form that concerns all translations was opened with."""
    return " ".join(f"{translation.lang}.{translation.seen}" for translation in faq.translations)


def seen_by_language(text: str) -> dict[str, str]:
    """Return the value of each language in what `all_seen` returned."""
    return dict(part.partition(".")[::2] for part in text.split())


def what_happened(before: str, now: TranslationInfo, author: str) -> str:
    """Return how a translation differs from what a form was opened with (`TranslationInfo.seen`)."""
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
    return " and ".join(happened) or "somebody changed it"
