"""A symmetric positive-definite matrix in memory, factored from its last block of rows to its first by loops.

    H = Lᵀ D L        L has units on its diagonal, D has blocks there

What is written out for small systems would be a long program for large ones. A block that is zero in all states of a
vector costs next to nothing, so bodies that do not touch have nothing to do with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hinge.dynamics.solve import LDL
from hinge.graph import Scalar, Scratch, inner, less, repeat, when
from hinge.graph.scalars import largest

SIZE = 6  # of a block: the velocities of a loose body

Block = list[list[Scalar]]


class Blocks:
    """A matrix of n rows, zeros at first; `place(i, j)` is where an entry up to the diagonal is in `memory`."""

    def __init__(self, n: int, like: Scalar, joint_label: Callable[[int], str]):
        self.n, self.count, self.like, self.joint_label = n, -(-n // SIZE), like, joint_label
        self.memory = Scratch((self.count * SIZE) ** 2, like)
        for i in range(n, self.count * SIZE):
            self.memory[float(self.place(i, i))] = 1.0

    def place(self, i: int, j: int) -> int:
        """Where an entry is."""
        return ((i // SIZE) * self.count + j // SIZE) * SIZE**2 + (i % SIZE) * SIZE + j % SIZE

    def _at(self, i: Scalar, j: Scalar) -> Scalar:
        return (i * float(self.count) + j) * float(SIZE**2)

    def _block(self, memory: Scratch, at: Scalar) -> Block:
        return [[memory[at + float(r * SIZE + c)] for c in range(SIZE)] for r in range(SIZE)]

    def _put(self, memory: Scratch, at: Scalar, block: Block) -> None:
        for r, row in enumerate(block):
            for c, x in enumerate(row):
                memory[at + float(r * SIZE + c)] = x

    def _before(self, last: Scalar, body: Callable[[Scalar], None]) -> None:
        """The body for each block before one."""

        def one(i: Scalar, n: Scalar) -> tuple[Scalar, ...]:
            body(i)
            return (n + 1.0,)

        repeat(self.count, (0.0 * self.like,), one, lambda n: less(last - 0.5, n))

    def _inverse(self, k: Scalar) -> LDL:
        return LDL(self._block(self.memory, self._at(k, k)), self.joint_label)

    def factor(self) -> None:
        """Make of H what `solve` needs: L below the diagonal, and D on it."""
        scaled = Scratch(self.count * SIZE**2, self.like, zeros=False)  # a row of blocks of L

        def eliminated(step: Scalar, same: Scalar) -> tuple[Scalar, ...]:
            k = float(self.count - 1) - step
            D = self._inverse(k)

            def divided(i: Scalar) -> None:
                row = self._block(self.memory, self._at(k, i))
                columns = [D.solve(list(column)) for column in zip(*row, strict=True)]
                self._put(scaled, i * float(SIZE**2), [list(x) for x in zip(*columns, strict=True)])

            def reduced(i: Scalar) -> None:
                row = self._block(self.memory, self._at(k, i))

                def some() -> tuple[Scalar, ...]:
                    self._before(i + 1.0, lambda j: self._reduced(row, scaled, i, j))
                    return ()

                when(less(0.0, largest(x for line in row for x in line)), (), some)
                self._put(self.memory, self._at(k, i), self._block(scaled, i * float(SIZE**2)))

            self._before(k, divided)
            self._before(k, reduced)
            return (same,)

        repeat(self.count, (self.like,), eliminated)

    def _reduced(self, row: Block, scaled: Scratch, i: Scalar, j: Scalar) -> None:
        at, other = self._at(i, j), self._block(scaled, j * float(SIZE**2))
        columns = list(zip(*other, strict=True))
        made = [[self.memory[at + float(r * SIZE + c)] - inner([line[r] for line in row], columns[c])
                 for c in range(SIZE)] for r in range(SIZE)]  # fmt: skip
        self._put(self.memory, at, made)

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """H⁻¹ b, after `factor`."""
        x = Scratch(self.count * SIZE, self.like)
        for i, y in enumerate(b):
            x[float(i)] = y

        def part(k: Scalar) -> list[Scalar]:
            return [x[k * float(SIZE) + float(r)] for r in range(SIZE)]

        def put(k: Scalar, values: Sequence[Scalar]) -> None:
            for r, y in enumerate(values):
                x[k * float(SIZE) + float(r)] = y

        def inward(step: Scalar, same: Scalar) -> tuple[Scalar, ...]:
            k = float(self.count - 1) - step
            own = part(k)

            def carried(i: Scalar) -> None:
                L = self._block(self.memory, self._at(k, i))
                put(i, [y - inner(column, own) for y, column in zip(part(i), zip(*L, strict=True), strict=True)])

            self._before(k, carried)
            put(k, self._inverse(k).solve(own))
            return (same,)

        def outward(k: Scalar, same: Scalar) -> tuple[Scalar, ...]:
            def carried(i: Scalar) -> None:
                L, other = self._block(self.memory, self._at(k, i)), part(i)
                put(k, [y - inner(row, other) for y, row in zip(part(k), L, strict=True)])

            self._before(k, carried)
            return (same,)

        repeat(self.count, (self.like,), inward)
        repeat(self.count, (self.like,), outward)
        return [x[float(i)] for i in range(self.n)]
