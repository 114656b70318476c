"""Hypothesis strategies for texts, JSON values and records."""

from typing import Any

from hypothesis import strategies as st

from tests.support.samples import NASTY_TEXTS

any_text = st.one_of(
    st.text(st.characters(exclude_categories=())),  # lone surrogates and NUL included
    st.sampled_from(NASTY_TEXTS),
    st.lists(st.sampled_from(NASTY_TEXTS), max_size=4).map("".join),
)
"""Any Python string."""

visible_text = any_text.filter(lambda text: bool(text.strip()))


def _nested(floats: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | st.integers() | floats | any_text,
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
        max_leaves=20,
    )


json_values = _nested(st.floats(allow_nan=False, allow_infinity=False))
"""Any JSON value."""

odd_values = _nested(st.floats())
"""Any JSON value, NaN and the infinities included."""

items = st.lists(
    st.fixed_dictionaries(
        {"question": any_text, "answer": any_text}, optional={"position": st.integers(-5, 20)}
    ),
    max_size=8,
)

records: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"slug": st.text(min_size=1, max_size=20), "items": items},
    optional={
        "title": st.none() | any_text,
        "websiteName": st.none() | any_text,
        "lang": st.sampled_from(["en", "ko", "zh-Hant-TW", "", "nonsense!"]) | json_values,
        "cta": json_values,
        "unknown": json_values,
    },
)
"""Valid records, with unusual values."""
