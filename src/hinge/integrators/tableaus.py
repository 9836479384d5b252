"""Integration methods as data: a Runge-Kutta tableau a row.

    k_i = f(t + c_i h, y + h Σ_j a_ij k_j)          y_1 = y + h Σ_i b_i k_i

`low` are the weights of a result of lower order, from which the error is estimated; `dense` those of the last term of
a fourth-order polynomial through the step, which is a cubic one without (Hairer, Nørsett and Wanner, Solving Ordinary
Differential Equations I, II.4 to II.6). The last stage of a method that has `low` is the rate at the end of its step.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction as F

Row = tuple[float, ...]


@dataclass(frozen=True)
class Tableau:
    """A method: its order, its coefficients, and how positions follow velocities."""

    name: str
    order: int
    a: tuple[Row, ...]
    b: Row
    low: Row = ()
    dense: Row = ()
    group: bool = False  # positions move by exponentials, so quaternions keep their length
    late: bool = False  # positions move with the velocity at the end of the step

    @property
    def c(self) -> Row:
        """Where in the step each stage is."""
        return tuple(sum(row) for row in self.a)

    @property
    def carries(self) -> bool:
        """Whether velocities are carried from configuration to configuration with their momentum, which keeps that of
        floating robots; a method of higher order keeps it to its order."""
        return self.order < 2

    @property
    def stages(self) -> int:
        return len(self.b)


def _rows(*rows: tuple[F | int, ...]) -> tuple[Row, ...]:
    return tuple(tuple(float(x) for x in row) for row in rows)


def _row(*entries: F | int) -> Row:
    return tuple(float(x) for x in entries)


CLASSIC = _rows((), (F(1, 2),), (0, F(1, 2)), (0, 0, 1))
CLASSIC_WEIGHTS = _row(F(1, 6), F(1, 3), F(1, 3), F(1, 6))
DORMAND_PRINCE = _rows(
    (),
    (F(1, 5),),
    (F(3, 40), F(9, 40)),
    (F(44, 45), F(-56, 15), F(32, 9)),
    (F(19372, 6561), F(-25360, 2187), F(64448, 6561), F(-212, 729)),
    (F(9017, 3168), F(-355, 33), F(46732, 5247), F(49, 176), F(-5103, 18656)),
    (F(35, 384), 0, F(500, 1113), F(125, 192), F(-2187, 6784), F(11, 84)),
)

TABLEAUS = {
    tableau.name: tableau
    for tableau in (
        Tableau("euler", 1, ((),), (1.0,)),
        Tableau("semi_implicit", 1, ((),), (1.0,), late=True),
        Tableau("rk4", 4, CLASSIC, CLASSIC_WEIGHTS),
        Tableau("lie_rk4", 4, CLASSIC, CLASSIC_WEIGHTS, group=True),
        Tableau(
            "dopri5", 5, DORMAND_PRINCE, (*DORMAND_PRINCE[-1], 0.0),
            low=_row(F(5179, 57600), 0, F(7571, 16695), F(393, 640), F(-92097, 339200), F(187, 2100), F(1, 40)),
            dense=_row(F(-12715105075, 11282082432), 0, F(87487479700, 32700410799), F(-10690763975, 1880347072),
                       F(701980252875, 199316789632), F(-1453857185, 822651844), F(69997945, 29380423)),
        ),
    )
}  # fmt: skip
