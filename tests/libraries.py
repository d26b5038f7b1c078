"""Libraries that only some environments have."""

import importlib
import os
from typing import Any

import pytest


def library(name: str) -> Any:
    """A library, or else the tests that need it are skipped; but not where an environment was made for them."""
    if os.environ.get("OHHELL_INTEGRATION"):
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name} is not installed; `make test-integrations` runs this")
