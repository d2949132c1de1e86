from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from unweave.data import Dataset, load


@pytest.fixture(scope="session")
def get() -> Callable[..., Dataset]:
    """Load a data set, once for all tests."""
    loaded = cache(load)

    def get(name: str, size: int = 64, **options: int) -> Dataset:
        return loaded(name, size=size, **options)

    return get
