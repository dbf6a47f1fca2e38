"""What the tests of the reader share: the shipped models, loaded once for each of them."""

from __future__ import annotations

import pytest

from wayword.language.pipeline import LanguageModel
from wayword.language.reader import Reader


@pytest.fixture(scope="module")
def language() -> LanguageModel:
    return LanguageModel.load()


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader.load()
