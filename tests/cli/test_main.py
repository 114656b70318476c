"""What all commands have in common."""

import pytest

from faqsvc_embed.cli.output import visible
from tests.cli.support import failure, faqsvc


@pytest.mark.parametrize(
    "arguments",
    [
        ["get"],
        ["get", "a", "b"],
        ["get", "a", "--format", "pdf"],
        ["get", "a", "--lang", "tlh"],
        ["get", "a"],  # of which service?
        ["get", "a", "--base-url", "nonsense"],
        ["pull", "a", "--to", "b", "--base-url", "ftp://faq.example.com"],
        ["generate", "https://tea.example", "--base-url", "https://faq.example.com/?x"],
        ["publish"],
        ["generate", "https://tea.example", "--count", "0"],
        ["serve", "--port", "70000"],
        ["serve", "now"],
        ["mcp", "--allow-host", "tools.example"],
        ["keys", "make"],
        ["keys", "revoke"],
        ["nothing"],
        ["publish", ""],  # would be the current directory
        ["check", ""],
        ["check", "nowhere"],
        ["check"],
        ["check", "--page", ""],
        ["check", "http://127.0.0.1:5000/"],
        ["extract", ""],
        ["pull", "a", "--to", ""],
        ["pull", "--to", "b"],
        ["pull", "a"],
    ],
)
def test_a_mistake_of_usage_has_status_2(arguments: list[str]) -> None:
    result = faqsvc(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


def test_an_invalid_address_is_named() -> None:
    empty = faqsvc("get", "", "--base-url", "https://faq.example").stderr
    assert ("'' is not a slug" in empty, "quotes" in empty) == (True, False)
    assert "'nonsense'" in faqsvc("get", "a", "--base-url", "nonsense").stderr


@pytest.mark.parametrize("command", [["extract"], ["check", "--page"]])
@pytest.mark.parametrize("address", ["heron.example/faq", "ftp://heron.example/faq"])
def test_the_error_for_an_address_without_https_says_how_addresses_begin(
    command: list[str], address: str
) -> None:
    assert "begins with https://" in failure(faqsvc(*command, address))


@pytest.mark.parametrize("name", ["get", "pull", "publish", "generate", "serve", "keys"])
def test_help_has_examples(name: str) -> None:
    result = faqsvc(name, "--help")
    assert result.exit_code == 0
    assert f"\n    faqsvc {name} " in result.stdout or f"$(faqsvc {name} " in result.stdout


@pytest.mark.parametrize("character", [*"\x00\x07\x1b\r\x7f\x85\x9b\u200e\u202e\u2066\u2028"])
def test_a_character_that_controls_a_terminal_is_made_visible(character: str) -> None:
    assert visible(f"a{character}b\n\t한é") == f"a\\u{ord(character):04x}b\n\t한é"
