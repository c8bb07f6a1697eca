"""A file that follows its text: house rules name the day, and a lab may run over midnight."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path


class KeptFile:
    """Written by `start`, and again within `every` seconds of each change of its text, until `close`."""

    def __init__(self, path: Path, text: Callable[[], str], every: float = 1.0) -> None:
        self._path = path
        self._text = text
        self._every = every
        self._written = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"keeps {path.name}", daemon=True)

    def start(self) -> None:
        self._write()
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def _keep(self) -> None:
        while not self._stop.wait(self._every):
            self._write()

    def _write(self) -> None:
        """Whole or not at all: the reader may come at any moment."""
        text = self._text()
        if text == self._written:
            return
        draft = self._path.with_name(f".{self._path.name}.new")
        draft.write_text(text, encoding="utf-8")
        draft.replace(self._path)
        self._written = text
