"""What a computation is: interned scalar nodes, their operations, ordering, differentiation, printing.

Nothing here knows what a robot is. Read expr, then machine, ops, functions, scalars, order, diff, show.
"""

from hinge.graph import operators as operators
from hinge.graph.diff import along, columns, jacobian, kinks, units
from hinge.graph.dual import Dual
from hinge.graph.expr import Expr, Graph, Scalar, TooLong, on_paper
from hinge.graph.functions import arccos, arcsin, atan2, cos, exp, held, log, sin, tanh
from hinge.graph.loops import Scratch, Table, repeat, when
from hinge.graph.ops import OPS, Op, absolute, floor, less, maximum, minimum, select, sqrt
from hinge.graph.order import Input, Output, Program, live, order
from hinge.graph.random import uniform
from hinge.graph.reverse import Reverse, pulled
from hinge.graph.rules import ruled
from hinge.graph.scalars import evaluate, evaluated, inner, is_zero, power, replay, total
from hinge.graph.streams import Record, Rows

__all__ = [
    "OPS", "Dual", "Expr", "Graph", "Input", "Op", "Output", "Program", "Record", "Reverse", "Rows", "Scalar",
    "Scratch", "Table", "TooLong", "absolute", "along", "arccos", "arcsin", "atan2", "columns", "cos", "evaluate",
    "evaluated", "exp", "floor", "held", "inner", "is_zero", "jacobian", "kinks", "less", "live", "log", "maximum",
    "minimum", "on_paper", "order", "power", "pulled", "repeat", "replay", "ruled", "select", "sin", "sqrt", "tanh",
    "total", "uniform", "units", "when",
]  # fmt: skip
