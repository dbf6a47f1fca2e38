"""Pictures inside HTML pages, which then need no file beside them."""

from __future__ import annotations

import base64
import io
from typing import Literal

from PIL import Image


def data_url(image: Image.Image, kind: Literal["jpeg", "webp"], quality: int = 80) -> str:
    """The picture as the value of an ``src``."""
    buffer = io.BytesIO()
    image.save(buffer, kind.upper(), quality=quality)
    return f"data:image/{kind};base64,{base64.b64encode(buffer.getvalue()).decode()}"
