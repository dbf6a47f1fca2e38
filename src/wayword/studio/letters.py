"""Letters from the page's script to a visitor's page: about what viser has no message for, such as the address.

A letter is a request with the visitor's key, which only their own page was told; whoever has no key reaches nobody.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

LETTER = "/wayword-letter"
_LONGEST = 6000
"""Characters of one; the server reads 8,192 of a request's first line."""
Addressee = Callable[[str, str], None]


class Letterbox:
    """Hands letters to whoever has opened the box they are for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers: dict[str, Addressee] = {}
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="wayword-studio-post")

    def open(self, read: Addressee) -> str:
        """A new key; ``read`` gets what each letter is about and what it says, in a thread of the box."""
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._readers[key] = read
        return key

    def close(self, key: str) -> None:
        """No more letters for this key."""
        with self._lock:
            self._readers.pop(key, None)

    def deliver(self, path: str) -> bool:
        """Take a request's path; False if it is no letter for anybody. Never waits."""
        parts = urlsplit(path)
        fields = parse_qs(parts.query, keep_blank_values=True)
        if parts.path != LETTER or len(path) > _LONGEST or set(fields) != {"key", "about", "value"}:
            return False
        with self._lock:
            read = self._readers.get(fields["key"][0])
        if read is None:
            return False
        self._pool.submit(read, fields["about"][0], fields["value"][0])
        return True

    def shut(self) -> None:
        """End the threads of the box."""
        self._pool.shutdown(wait=False, cancel_futures=True)
