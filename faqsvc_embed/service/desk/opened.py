"""What a form was opened with, so that whatever happened meanwhile is told instead of undone."""

from faqsvc_embed.service.storage.overview import FAQInfo, TranslationInfo


def opened(translation: TranslationInfo) -> str:
    """Return the newest and the published revision of a translation; it changes with both."""
    return f"{translation.newest}.{translation.published or 0}"


def all_opened(faq: FAQInfo) -> str:
    """Return the same of all translations of an FAQ."""
    return " ".join(f"{translation.lang}.{opened(translation)}" for translation in faq.translations)


def what_happened(before: str, now: TranslationInfo, author: str) -> str:
    """Return in words how a translation differs from what a form was opened with."""
    newest, _, published = before.partition(".")
    happened = []
    if newest != str(now.newest):
        happened.append(f"{author} saved revision {now.newest}")
    if not now.published and published != "0":
        happened.append("it was unpublished")
    elif now.published and published != str(now.published) and now.newest == now.published:
        happened.append("it was published")
    elif now.published and published != str(now.published):
        happened.append(f"revision {now.published} was published")
    return " and ".join(happened)
