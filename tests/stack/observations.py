"""What the real gateway makes of each misbehaviour, each seen once for the whole run."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Any, Self

from butlerctl.lab.conformance.case import Case
from butlerctl.lab.conformance.outcome import Observed, Result
from butlerctl.lab.conformance.run import Bench, run_case, spoilt_bench


class Observations:
    """Use as a context manager. `bench` is the gateway with the shipped plugin.

    A spoilt plugin has a gateway of its own, which runs until a case asks for another one.
    """

    def __init__(self, bench: Bench, version: str, model: str) -> None:
        self._bench = bench
        self._pins = (version, model)
        self._seen: dict[str, Observed] = {}
        self._spoilt: tuple[str, Any] = ("", None)
        self._resources = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._resources.close()

    def of(self, case: Case) -> Observed:
        if case.id not in self._seen:
            bench = self._bench_with(case.plugin) if case.plugin else self._bench
            self._seen[case.id] = run_case(bench, case)
        return self._seen[case.id]

    def known(self) -> list[Result]:
        return [observed.result for observed in self._seen.values()]

    def _bench_with(self, plugin: str) -> Bench:
        if self._spoilt[0] != plugin:
            self._resources.close()
            self._spoilt = ("", None)
            bench = self._resources.enter_context(spoilt_bench(plugin, *self._pins, os.environ))
            self._spoilt = (plugin, bench)
        bench: Bench = self._spoilt[1]
        return bench
