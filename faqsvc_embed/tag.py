"""What `{% faq … %}` and `{{ faq(…) }}` are compiled to: neither copies what it prints.

What an expression gives is escaped by Jinja, which copies Markup twice; a filter block writes out what its
filter returns. So the tag is a filter of the slug, and the expression one of the function. But of a template
that extends another, Jinja writes out nothing that stands outside of its blocks, and filter blocks all the
same.
"""

from collections.abc import Iterable
from typing import Final

from jinja2 import nodes
from jinja2.compiler import CodeGenerator
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser

SHOW: Final = "faqsvc_show"
"""The filter that makes an FAQ of a slug."""
CALL: Final = "faqsvc_call"
"""The filter that calls a function and returns what Jinja would print."""

PRINTED_CALL: Final = "{{"
"""The tag that stands for `{{ faq(…) }}`; nobody can write one of this name."""
CHECKED_TAG: Final = "{% faq"
"""The tag that stands for `{% faq … %}` where it may not be written out."""


class FAQTag(Extension):
    """`{% faq "pricing", lang="ko" %}`: what `{{ faq("pricing", lang="ko") }}` prints, and as quick."""

    tags = {"faq", CHECKED_TAG, PRINTED_CALL}  # noqa: RUF012  # Jinja's own interface

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        """Mark `{{ faq(` and `{{ faqsvc.`, up to their end, and `{% faq` where it may not be written out."""
        extends = begins = is_marked = False
        depth = 0
        for token in stream:
            is_outside = extends and depth < 1
            if token.type == "variable_begin" and _is_call(stream) and not is_outside:
                is_marked = True
                yield Token(token.lineno, "block_begin", token.value)
                yield Token(token.lineno, "name", PRINTED_CALL)
                continue
            if begins and token.value == "faq" and is_outside:
                token = Token(token.lineno, "name", CHECKED_TAG)
            yield token
            if begins:
                extends = extends or token.value == "extends"
                depth += (token.value == "block") - (token.value == "endblock")
            begins = token.type == "block_begin"
            if token.type == "variable_end" and is_marked:
                is_marked = False
                yield Token(token.lineno, "block_end", token.value)

    def parse(self, parser: Parser) -> nodes.Node:
        tag = next(parser.stream)
        if tag.value == PRINTED_CALL:
            return self._call(parser).set_lineno(tag.lineno)
        shown = self._shown(parser)
        node = nodes.Output([shown]) if tag.value == CHECKED_TAG else nodes.FilterBlock([], shown)
        return node.set_lineno(tag.lineno)

    def _shown(self, parser: Parser) -> nodes.Filter:
        slug = parser.parse_expression()
        options: list[nodes.Keyword] = []
        while parser.stream.skip_if("comma"):
            name = parser.stream.expect("name")
            parser.stream.expect("assign")
            options.append(nodes.Keyword(name.value, parser.parse_expression(), lineno=name.lineno))
        return nodes.Filter(slug, SHOW, [], options, None, None)

    def _call(self, parser: Parser) -> nodes.Node:
        printed = parser.parse_tuple(with_condexpr=True)
        parser.stream.expect("variable_end")
        if not isinstance(printed, nodes.Call) or not self._prints_plainly():
            return nodes.Output([printed])
        function, *rest = printed.node, printed.args, printed.kwargs, printed.dyn_args, printed.dyn_kwargs
        return nodes.FilterBlock([], nodes.Filter(function, CALL, *rest))

    def _prints_plainly(self) -> bool:
        """Tell whether expressions of this environment are called and printed as Jinja does by default."""
        environment = self.environment
        is_plain = environment.code_generator_class is CodeGenerator and environment.finalize is None
        return is_plain and not environment.sandboxed and not environment.is_async


def _is_call(stream: TokenStream) -> bool:
    following = stream.look().type
    return (stream.current.test("name:faq") and following == "lparen") or (
        stream.current.test("name:faqsvc") and following == "dot"  # as our macros write it
    )
