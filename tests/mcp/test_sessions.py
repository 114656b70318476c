"""Ten tasks of an assistant, played through other people's clients; each ends with the right page.

Before each call, the script has read only what the tools returned.
"""

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from faqsvc_embed import FAQClient
from faqsvc_embed.mcp import create_app
from faqsvc_embed.service.app import create_app as service_app
from faqsvc_embed.service.storage import open_storage
from tests.cli.support import faqsvc
from tests.mcp.support import output_schema
from tests.mcp.test_process import COMMAND, environment
from tests.support.running import running
from tests.support.service import Service

pytestmark = pytest.mark.system

CLIENTS: Final = ["Python stdio", "Python http", "1 stdio", "2 http"]
"""The official clients with their transports: in Python, and versions 1 and 2 in TypeScript."""
through_every_client = pytest.mark.parametrize("assistant", CLIENTS, indirect=True)
"""For the tests that together see a success and an error of every tool; the others need one client."""
Send = Callable[[str, dict[str, Any]], dict[str, Any]]


class Refused(Exception):
    """A call failed; the text is what the model is told."""


class Assistant:
    """An assistant that calls tools."""

    def __init__(self, send: Send, faqs: FAQClient) -> None:
        self._send = send
        self.faqs = faqs

    def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self._send(tool, arguments)
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise Refused(text)
        Draft202012Validator(output_schema(tool)).validate(result["structuredContent"])
        assert json.loads(text) == result["structuredContent"] or tool == "get_faq_jsonld"
        found: dict[str, Any] = json.loads(text)
        return found

    def update(self, slug: str, *changes: dict[str, Any], **extra: Any) -> dict[str, Any]:
        lang = {"lang": extra["lang"]} if "lang" in extra else {}
        read = self("get_faq", slug=slug, **lang)
        return self(
            "update_faq",
            slug=slug,
            revision=read["revision"],
            **({"changes": changes} if changes else {}),
            **extra,
        )

    def page(self, slug: str, lang: str = "en") -> str:
        """Return the words of the hosted page."""
        html = httpx2.get(f"{self.faqs.settings.base_url}/faq/{slug}?lang={lang}", timeout=60).text
        body = re.sub(r"<(script|style)\b.*?</\1>", " ", html, flags=re.DOTALL)
        return " ".join(re.sub("<[^<>]*>", " ", body).split())

    def items(self, slug: str, lang: str = "en") -> list[tuple[str, str]]:
        return [(item.question, item.answer) for item in self.faqs.get_faq(slug, lang=lang).items]


@contextmanager
def _python(portal: BlockingPortal, target: Any) -> Iterator[Send]:
    with portal.wrap_async_context_manager(Client(target)) as client:
        portal.call(client.list_tools)

        def send(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
            result = portal.call(client.call_tool, tool, arguments)
            found: dict[str, Any] = json.loads(result.model_dump_json(by_alias=True, exclude_none=True))
            return found

        yield send


@contextmanager
def _typescript(folder: Path, version: str, *target: str, **variables: str) -> Iterator[Send]:
    command = ["node", str(Path(__file__).with_name("clients.mjs")), str(folder), version, *target]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment(**variables)) as node:
        calls, results = cast("tuple[IO[str], IO[str]]", (node.stdin, node.stdout))

        def send(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
            calls.write(json.dumps({"name": tool, "arguments": arguments}) + "\n")
            calls.flush()
            told = json.loads(results.readline())
            assert "thrown" not in told, told
            result: dict[str, Any] = told["result"]
            return result

        yield send
        calls.close()


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Our service, which may be written to as often as the tests like."""
    storage = open_storage(f"sqlite:///{tmp_path_factory.mktemp('service')}/faqsvc.db")
    with running(service_app(storage, writes_per_minute=None)) as address:
        yield Service(address, storage.keys.create("tests"))


@pytest.fixture(scope="module")
def assistant(request: pytest.FixtureRequest, ours: Service) -> Iterator[Assistant]:
    """An assistant with a client of the parameter's kind."""
    kind, transport = getattr(request, "param", "Python http").split()
    variables = {"FAQSVC_BASE_URL": ours.base_url, "FAQSVC_API_KEY": ours.key}
    headers = {"X-Plugin-Key": ours.key}
    with ExitStack() as stack:
        enter = stack.enter_context
        faqs = enter(FAQClient(ours.base_url, ours.key))
        folder = request.getfixturevalue("readers") if kind != "Python" else Path()
        url = ""
        if transport == "http":
            url = f"{enter(running(create_app(enter(FAQClient(ours.base_url)))))}/mcp"
        if kind != "Python":
            target = [url, json.dumps(headers)] if url else [sys.executable, *COMMAND]
            yield Assistant(enter(_typescript(folder, kind, *target, **variables)), faqs)
            return
        portal = enter(start_blocking_portal())
        if url:
            http = enter(portal.wrap_async_context_manager(httpx2.AsyncClient(headers=headers, timeout=60)))
            yield Assistant(enter(_python(portal, streamable_http_client(url, http_client=http))), faqs)
        else:
            parameters = StdioServerParameters(
                command=sys.executable, args=COMMAND, env=environment(**variables)
            )
            yield Assistant(enter(_python(portal, parameters)), faqs)


SHOP: Final[dict[str, Any]] = {
    "websiteUrl": "https://shop.example",
    "websiteName": "Heron Prints",
    "lang": "en",
}
ITEMS: Final = [
    {
        "question": "Do you ship abroad?",
        "answer": "We ship to Sweden.",
        "section": "Shipping",
        "id": "abroad",
    },
    {"question": "What does “good to print” mean?", "answer": "300 dpi.", "section": "Files"},
    {"question": "Is postage included?", "answer": "Yes, above 50 euros.", "section": "Shipping"},
]


NUMBERS: Final = itertools.count()


@pytest.fixture
def shop(assistant: Assistant) -> Iterator[str]:
    """The slug of an FAQ in two languages."""
    slug = assistant("publish_faq", **SHOP, items=ITEMS, title="Help", slug=f"help-{next(NUMBERS)}")["slug"]
    german = [{"question": "Liefern Sie ins Ausland?", "answer": "Nach Schweden.", "id": "abroad"}]
    assistant("update_faq", slug=slug, lang="de", revision=0, changes=german, title="Hilfe")
    yield slug
    assistant.faqs.unpublish_faq(slug, purge=True)


@through_every_client
def test_it_writes_an_faq_in_markdown_that_readers_see_as_meant(assistant: Assistant) -> None:
    items = [
        {
            "question": "Do you rent bicycles?",
            "answer": "Yes, from **€15**. See [rates](https://shop.example/rent).",
        },
        {"question": "Is a helmet included?", "answer": "- a helmet\n- a lock", "section": "Equipment"},
    ]
    told = assistant("publish_faq", **SHOP, items=items, title="Rent a bicycle")
    assert next(iter(told)) == "template"
    assert (told["slug"].startswith("rent-a-bicycle"), told["template"]) == (
        True,
        f'{{{{ faq("{told["slug"]}") }}}}',
    )
    assert "Markdown" in told["note"]
    assert "Yes, from €15. See rates (https://shop.example/rent)." in told["shown"]
    page = assistant.page(told["slug"])
    assert all(text in page for text in ("from €15 . See rates .", "Equipment", "a lock"))
    assert "**" not in page


def test_it_fixes_a_typo_in_a_question_that_it_spells_otherwise(assistant: Assistant, shop: str) -> None:
    told = assistant.update(
        shop, {"question": 'what does "good to print" mean', "answer": "300 dots per inch."}
    )
    assert told["changed"][0]["question"] == ITEMS[1]["question"]
    assert assistant.items(shop)[1] == (ITEMS[1]["question"], "300 dots per inch.")
    assert len(assistant.items(shop)) == 3


def test_it_adds_a_question_only_where_none_asks_the_same(assistant: Assistant, shop: str) -> None:
    change = {"question": "Do you deliver abroad?", "answer": "We ship to Sweden and Norway."}
    with pytest.raises(Refused, match="Do you ship abroad") as refused:
        assistant.update(shop, change)
    assert "add: true" in str(refused.value)
    told = assistant.update(shop, {**change, "question": "Do you ship abroad?"})
    assert "de" in told["note"]  # the other language says something else now
    assistant.update(shop, {"id": "abroad", "answer": "Nach Schweden und Norwegen."}, lang="de")
    new = {"question": "Do you wrap gifts?", "answer": "Yes.", "add": True, "section": "shipping"}
    assistant.update(shop, new)
    assert [question for question, _ in assistant.items(shop)] == [
        ITEMS[0]["question"], ITEMS[1]["question"], ITEMS[2]["question"], "Do you wrap gifts?",
    ]  # fmt: skip
    assert "Sweden and Norway" in assistant.page(shop)
    assert "Schweden und Norwegen" in assistant.page(shop, "de")


def test_it_translates_with_a_title(assistant: Assistant, shop: str) -> None:
    french = [{"question": "Livrez-vous à l’étranger ?", "answer": "En Suède.", "section": "Livraison"}]
    told = assistant("update_faq", slug=shop, lang="fr-FR", revision=0, changes=french, title="Aide")
    assert (told["lang"], told["shown"].split("\n")[0]) == ("fr", "Aide")
    assert all(text in assistant.page(shop, "fr") for text in ("Aide", "Livraison", "En Suède."))


def test_it_retitles(assistant: Assistant, shop: str) -> None:
    assistant.update(shop, title="Answers", introduction="Ask us anything.")
    page = assistant.page(shop)
    assert ("Answers" in page, "Ask us anything." in page) == (True, True)
    assert len(assistant.items(shop)) == 3


def test_it_reorders(assistant: Assistant, shop: str) -> None:
    assistant.update(
        shop,
        {"question": "Is postage included?", "after": ""},
        {"question": "Do you ship abroad?", "section": "Files"},
    )
    assert [question for question, _ in assistant.items(shop)] == [ITEMS[n]["question"] for n in (2, 1, 0)]


def test_it_merges_two_questions(assistant: Assistant, shop: str) -> None:
    assistant.update(
        shop,
        {
            "question": "do you ship abroad",
            "newQuestion": "Do you ship abroad, and what is postage?",
            "answer": "To Sweden; free above 50 euros.",
        },
        {"question": "Is postage included?", "remove": True},
    )
    assert assistant.items(shop)[0] == (
        "Do you ship abroad, and what is postage?",
        "To Sweden; free above 50 euros.",
    )
    assert len(assistant.items(shop)) == 2


@through_every_client
def test_it_takes_one_down_and_undoes_that(assistant: Assistant, shop: str) -> None:
    told = assistant("unpublish_faq", slug=shop)
    assert httpx2.get(f"{assistant.faqs.settings.base_url}/faq/{shop}", timeout=60).status_code == 410
    with pytest.raises(Refused, match="undo: true"):
        assistant("get_faq", slug=shop)
    assert "undo: true" in told["note"]
    assert assistant("unpublish_faq", slug=shop, undo="true")["state"] == "published"
    assert ("Sweden" in assistant.page(shop), "Schweden" in assistant.page(shop, "de")) == (True, True)


def test_it_undoes_a_change(assistant: Assistant, shop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = assistant.update(shop, {"question": "Do you ship abroad?", "answer": "No."})
    settings = assistant.faqs.settings
    monkeypatch.setenv("FAQSVC_BASE_URL", settings.base_url)
    monkeypatch.setenv("FAQSVC_API_KEY", settings.api_key.reveal() if settings.api_key else "")
    assert faqsvc(*told["undo"].split()[1:]).exit_code == 0
    assert assistant.items(shop)[0][1] == "We ship to Sweden."


@through_every_client
def test_it_finds_the_right_faq(assistant: Assistant, shop: str) -> None:
    found = assistant("list_faqs", query="dpi")["items"]
    assert [faq["slug"] for faq in found] == [shop]
    with pytest.raises(Refused, match="list_faqs has the slugs"):
        assistant("get_faq", slug=f"{shop}s")
    address = f"{assistant.faqs.settings.base_url}/faq/{shop}?lang=de"
    assert assistant("get_faq", slug=address)["title"] == "Hilfe"
    assert assistant("get_faq_jsonld", slug=shop)["@type"] == "FAQPage"


@through_every_client
def test_a_conflict_and_every_other_error_reach_the_model(assistant: Assistant, shop: str) -> None:
    change = {"question": "Do you ship abroad?", "answer": "No."}
    assistant.update(shop, change)
    with pytest.raises(Refused) as refused:
        assistant("update_faq", slug=shop, revision=1, changes=[change])
    told = json.loads(str(refused.value))
    assert (told["code"], told["current"]["revision"], told["current"]["items"][0]["answer"]) == (
        "revision-conflict",
        2,
        "No.",
    )
    for tool, arguments, named in (
        ("get_faq", {"slug": "a/b"}, "a/b"),
        ("get_faq_jsonld", {"slug": shop, "offset": 9}, "offset"),
        ("generate_faq", {"websiteUrl": "https://nowhere.invalid"}, "website"),
        ("publish_faq", {**SHOP, "items": ITEMS, "slug": shop}, "update_faq"),
        ("list_faqs", {"state": "lost"}, "state"),
        ("update_faq", {"slug": shop, "revision": 2}, "changes"),
        ("unpublish_faq", {"slug": shop, "lang": "ja"}, "ja"),
    ):
        with pytest.raises(Refused, match=named):
            assistant(tool, **arguments)


@through_every_client
def test_what_clients_send_as_text_is_understood(assistant: Assistant, shop: str) -> None:
    change = {"question": "Do you ship abroad?", "answer": "No.", "section": None}
    assistant("update_faq", slug=shop, revision="1", changes=json.dumps([change]), draft="False")
    assert assistant.items(shop)[0][1] == "No."
    read = assistant("get_faq", slug=shop, lang="en-US", offset="0")
    told = assistant(
        "publish_faq", **{**SHOP, "lang": "en-GB"}, items=json.dumps(read["items"]), preview="true"
    )
    assert [item["question"] for item in read["items"] if item["question"] not in told["shown"]] == []
