"""The forms of the methods that wait."""

import pytest

from tests.support.embeds import Form


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def form(request: pytest.FixtureRequest) -> Form:
    """One of the two forms."""
    return Form(request.param)
