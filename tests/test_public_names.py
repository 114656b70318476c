"""The public names do not change by accident."""

from tests.public_names import FILE, public_names


def test_the_public_names_are_those_of_the_list() -> None:
    listed, found = set(FILE.read_text(encoding="utf-8").splitlines()), set(public_names())
    assert (sorted(listed - found), sorted(found - listed)) == ([], []), (
        "run `python -m tests.public_names`; a name that is gone or takes other arguments needs a line in "
        "CHANGELOG.md"
    )
