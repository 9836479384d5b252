"""What a computation is: interned scalar nodes, their operations, ordering, differentiation, printing.

Nothing here knows what a robot is. Read expr, then ops, order, diff, show.
"""

from hinge.graph.diff import along, jacobian
from hinge.graph.dual import Dual
from hinge.graph.expr import (
    Expr,
    Graph,
    Scalar,
    TooLong,
    atan2,
    cos,
    inner,
    less,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    total,
)
from hinge.graph.ops import OPS, Op
from hinge.graph.order import Input, Output, Program, live, order

__all__ = [
    "OPS", "Dual", "Expr", "Graph", "Input", "Op", "Output", "Program", "Scalar", "TooLong", "along", "atan2", "cos",
    "inner", "jacobian", "less", "live", "maximum", "minimum", "order", "select", "sin", "sqrt", "total",
]  # fmt: skip
