"""The page's side of its script: the address, opening a tab, the theme. Written into the page, read back in letters."""

from __future__ import annotations

from typing import Any

from wayword.studio.words import desk_html


class Desk:
    """What one visitor's script is told."""

    def __init__(self, client: Any, key: str) -> None:
        self._client, self._key = client, key
        self._query, self._opened, self._count = "", "", 0
        self._theme = ""
        self._html = client.gui.add_html("")
        self._write()

    def set_address(self, query: str) -> None:
        """What the address bar shows from now on."""
        self._query = query
        self._write()

    def open_tab(self, name: str) -> None:
        """Bring a tab to the front."""
        self._count += 1
        self._opened = f"{self._count} {name}"
        self._write()

    def set_theme(self, light: bool) -> None:
        """A light or a dark page, remembered by the browser."""
        self._theme = "light" if light else "dark"
        self._client.gui.configure_theme(dark_mode=not light, show_logo=False, show_share_button=False)
        self._write()

    def _write(self) -> None:
        self._html.content = desk_html(self._key, self._query, self._opened, self._theme)
