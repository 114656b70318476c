"""A new database with the FAQs of the demo."""

from demo_apps import content, site
from faqsvc_embed import FAQ

# Publishing over the API makes up a slug for every FAQ. The templates of the demo name their FAQs, so this
# writes to the storage of the service. It is the only place that does.
from faqsvc_embed.service.storage import open_storage


def seed(database: str) -> tuple[str, str]:
    """Store every FAQ in every language; return an API key, and the token of a sign-in link for the desk.

    `database` is a URL such as `sqlite:///faqsvc.db`.
    """
    storage = open_storage(database)
    for slug in content.SLUGS:
        for lang in site.LANGUAGES:
            body = content.faq_body(slug, lang)
            storage.put(FAQ.from_dict(body), website_url=body["websiteUrl"])
    api_key = storage.keys.create("demo")
    link = storage.sign_ins.create_link(storage.people.admin("You"))
    storage.close()
    return api_key, link
