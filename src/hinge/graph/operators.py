"""Operators of nodes that need modules above `expr`: powers, NumPy's functions, text."""

from hinge.graph.arrays import on_nodes, traced
from hinge.graph.expr import HOOKS
from hinge.graph.scalars import power
from hinge.graph.show import listing, text

HOOKS.update(text=text, listing=listing, power=power, ufunc=traced, method=on_nodes)
