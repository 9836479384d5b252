"""Python's garbage collector, put off while a graph grows.

It walks over all nodes again and again as they become more, and finds nothing: what a graph has made it keeps, so none
of it can be garbage before the graph itself is.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage is looked for meanwhile; who finds the collector off already leaves it so."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
