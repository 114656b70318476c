"""A text that is encoded already in part is a text like any other."""

import copy
import json
import pickle
from typing import Any

import pytest
from flask import Flask, render_template_string
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment, Template
from markupsafe import Markup, escape

from faqsvc_embed import FAQ
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.rendering.encoded import Encoded, joined
from faqsvc_embed.rendering.renderer import Block, Look, Renderer
from faqsvc_embed.testing import fake_embed
from faqsvc_embed.theme import Theme
from tests.support import samples

IN_KOREAN = samples.record(
    "pricing", *[(f"{n}번째 질문은?", "요금은 매월 결제됩니다. " * 20) for n in range(20)]
)
IN_ENGLISH = samples.record(
    "pricing", *[(f"Question {n}?", "It is paid each month. " * 20) for n in range(20)]
)


def block(record: dict[str, Any]) -> Block:
    rendered = Renderer(encodes=True).block(FAQ.from_dict(record), Look(Theme(), True, 2))
    assert rendered is not None
    return rendered


KOREAN = block(IN_KOREAN)
KNOWN = str(KOREAN.alone)


def text_of(*parts: str) -> str:
    return joined(list(parts), KNOWN, KNOWN.encode())


def test_a_block_knows_its_bytes_if_they_are_not_its_text() -> None:
    assert KOREAN.encoded == KOREAN.alone.encode()
    assert block(IN_ENGLISH).encoded is None  # which is copied as it is


@given(
    st.text(),
    st.text(),
    st.sampled_from(["utf-8", "UTF-8", "utf8", "utf-16", "latin-1", "ascii", "shift_jis"]),
    st.sampled_from(["strict", "replace", "xmlcharrefreplace", "surrogatepass", "backslashreplace"]),
)
def test_it_encodes_as_the_text_does(before: str, after: str, encoding: str, errors: str) -> None:
    def outcome(text: str) -> object:
        try:
            return text.encode(encoding, errors)
        except UnicodeEncodeError as error:
            return error.args

    text = text_of(before, KNOWN, after)
    assert type(text) is Encoded
    assert outcome(text) == outcome(before + KNOWN + after)


def test_it_is_the_text_to_whoever_does_anything_else_with_it() -> None:
    text, plain = text_of("<p>", KNOWN, "</p>"), f"<p>{KNOWN}</p>"
    assert (text, hash(text), str(text), len(text)) == (plain, hash(plain), plain, len(plain))
    assert text.encode() == text.encode(encoding="utf-8") == plain.encode()
    assert (json.dumps(text), f"{text}!", escape(text)) == (json.dumps(plain), f"{plain}!", escape(plain))
    changed = [text.replace("<p>", ""), text + "", text[1:], Markup(text), str(text), text.strip()]
    assert [one.encode() for one in changed] == [str(one).encode() for one in changed]
    assert {type(one) for one in changed} == {str, Markup}


def test_it_is_kept_as_plain_text() -> None:
    text = text_of("<p>", KNOWN)
    kept = [pickle.loads(pickle.dumps(text, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    assert [(type(one), one) for one in [*kept, copy.deepcopy(text)]] == [(str, str(text))] * 7


@pytest.mark.parametrize("parts", [[], ["<p>", "</p>"], ["<p>", KNOWN[1:], "</p>"]])
def test_a_rendering_without_the_block_is_plain_text(parts: list[str]) -> None:
    assert (type(text_of(*parts)), text_of(*parts)) == (str, "".join(parts))


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ('<p>ä</p>{% faq "pricing" %}<p>ö</p>', Encoded),
        ('{{ faq("pricing") }}{{ faq("pricing") }}', Encoded),
        ('{% block main %}{{ faq("pricing") }}{% endblock %}', Encoded),
        ('{% if true %}{% for n in [1] %}{% faq "pricing" %}{% endfor %}{% endif %}', Encoded),
        ('{% set html %}{% faq "pricing" %}{% endset %}{{ html }}', Encoded),
        ('{% filter upper %}{% faq "pricing" %}{% endfilter %}', str),
        ('{% faq "pricing", schema=false %}', str),
        ('{% faq "english" %}{% faq "pricing" %}', str),
        ("<p>ä</p>", str),
    ],
)
@pytest.mark.parametrize("is_async", [False, True])
def test_a_page_with_its_first_faq_is_encoded_in_part(source: str, kind: type[str], is_async: bool) -> None:
    host = Environment(autoescape=True, enable_async=is_async)
    install(host, fake_embed({"pricing": IN_KOREAN, "english": IN_ENGLISH}, splice=True))
    template = host.from_string(source)
    template.render()  # from the second rendering on, the FAQ is ready-made
    text = template.render()
    assert type(text) is kind
    assert text.encode() == str(text).encode()


def test_flask_sends_what_is_encoded_already(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Flask(__name__)
    FAQExtension(app, embed=fake_embed({"pricing": IN_KOREAN}, splice=True))
    app.add_url_rule("/", view_func=lambda: render_template_string('<p>ä</p>{% faq "pricing" %}'))
    bodies = [app.test_client().get("/").data for _ in range(2)]
    assert bodies[0] == bodies[1]
    monkeypatch.setattr(Encoded, "encode", lambda text: b"its own bytes")
    assert app.test_client().get("/").data == b"its own bytes"


def test_without_being_asked_for_it_every_page_is_a_plain_text() -> None:
    host = Environment(autoescape=True)
    install(host, fake_embed({"pricing": IN_KOREAN}))
    template = host.from_string('{% faq "pricing" %}')
    assert [type(template.render()) for _ in range(2)] == [str, str]


class OwnTemplate(Template):
    """A host's own, which renders in its own way."""

    def render(self, *args: Any, **kwargs: Any) -> str:
        return super().render(*args, **kwargs) + "<!-- mine -->"


def test_a_template_class_of_the_hosts_renders_in_its_own_way() -> None:
    host = Environment(autoescape=True)
    host.template_class = OwnTemplate
    install(host, fake_embed({"pricing": IN_KOREAN}, splice=True))
    assert host.from_string('{% faq "pricing" %}').render().endswith("</script><!-- mine -->")


def test_a_host_joins_in_its_own_way() -> None:
    host = Environment(autoescape=True)
    host.concat = lambda parts: "|".join(parts)  # type: ignore[method-assign]
    install(host, fake_embed({}, splice=True))
    assert host.from_string("<p>{{ n }}</p>").render(n=1) == "<p>|1|</p>"
