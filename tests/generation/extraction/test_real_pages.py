"""Extraction on real pages, which are their authors' and not part of the project.

REAL_PAGES names a directory with pages, labels, and `score.py`, which compares both.
"""

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest
import turbohtml

from faqsvc_embed.generation.extraction.extractor import extract

PLACE = os.environ.get("REAL_PAGES", "")


def load_score() -> Any:
    spec = importlib.util.spec_from_file_location("score", Path(PLACE) / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def predict(raw: bytes, url: str) -> list[tuple[str, str]]:
    content = extract(turbohtml.parse(raw, positions=False), url)
    return [(pair.question, pair.answer) for pair in content.pairs]


@pytest.mark.system
@pytest.mark.skipif(not PLACE, reason="REAL_PAGES names no directory with labelled pages")
def test_recall_and_precision_on_real_pages_are_high(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALL", "0.95")
    monkeypatch.setenv("PRECISION", "0.97")
    score = load_score()
    monkeypatch.setattr(score, "predict", predict)
    assert score.main([]) == 0
