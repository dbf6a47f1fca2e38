"""``from support.extra_torch import torch``: the module that says so is skipped where PyTorch is not installed."""

from __future__ import annotations

import pytest

from support.extras import EXTRAS

if _missing := EXTRAS["needs_torch"].missing():
    pytest.skip(_missing, allow_module_level=True)

import torch
from safetensors.torch import load_file

__all__ = ["load_file", "torch"]
