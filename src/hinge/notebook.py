"""Results as HTML, for notebooks: tables, and curves over time. What comes from files is text in them, never markup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

WIDTH, HEIGHT = 480.0, 160.0  # pixels of a picture
COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "", words: int = 1) -> str:
    """A table; the first `words` columns are to the left, figures to the right.

    >>> hinge.notebook.table(["joint", "kg"], [["<b>", 2]]).count("&lt;b&gt;</td>")
    1
    """

    def row(tag: str, cells: Sequence[Any]) -> str:
        sides = ["left" if k < words else "right" for k in range(len(cells))]
        shown = zip(sides, cells, strict=True)
        return "".join(f'<{tag} style="text-align:{side}">{_text(cell)}</{tag}>' for side, cell in shown)

    caption = f'<caption style="text-align:left">{_text(title)}</caption>' if title else ""
    body = "".join(f"<tr>{row('td', cells)}</tr>" for cells in rows)
    return f"<table>{caption}<tr>{row('th', columns)}</tr>{body}</table>"


def lines(text: str) -> str:
    """Text as it is, a line each."""
    return f"<pre>{_text(text)}</pre>"


def curves(t: Any, y: Any, names: Sequence[str], unit: str) -> str:
    """A picture of y (T, n) over t (T): a line a column, broken where it is not finite, its name on hovering."""
    seen = np.isfinite(y)
    low, high = (float(y[seen].min()), float(y[seen].max())) if seen.any() else (0.0, 1.0)
    x = np.interp(t, [t[0], t[-1]], [0.0, WIDTH]) if len(t) > 1 else np.zeros(len(t))
    height = HEIGHT * (high - y) / (high - low or 1.0)
    drawn = []
    for k, name in enumerate(names):
        there = np.flatnonzero(seen[:, k])
        path = "".join(f"{'L' if i and seen[i - 1, k] else 'M'}{x[i]:.1f},{height[i, k]:.1f}" for i in there)
        color = COLORS[k % len(COLORS)]
        drawn.append(f'<path d="{path}" fill="none" stroke="{color}"><title>{_text(name)}</title></path>')
    size = f'width="{WIDTH:g}" height="{HEIGHT:g}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}"'
    frame = f'<svg {size} style="border:1px solid #999;max-width:100%">{"".join(drawn)}</svg>'
    span = f"{low:.3g} … {high:.3g} {unit}, {t[0]:g} … {t[-1]:g} s" if len(t) else ""
    keys = " ".join(
        f'<span style="color:{COLORS[k % len(COLORS)]}">{_text(name)}</span>' for k, name in enumerate(names)
    )
    return f"<div>{frame}<br>{_text(span)}: {keys}</div>"


def _text(x: Any) -> str:
    from html import escape

    return escape(str(x))
