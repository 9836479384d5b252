"""Inertias that bodies of a robot seem to have: what a force on a body meets, and what it does to another.

    f = IC a + …          a body and all it carries, as one rigid body
    f = IA a + p          the same with the joints beyond it free, its own joint cut: it is the handle of the others
    a_i = Φ_ij f_j + b_i  the whole robot, all joints free to give way: Φ_ij = J_i H⁻¹ J_jᵀ

Φ_i of each body follows from its parent's by the acceleration propagator of the joint between them; cross inertias by
propagators along the path.
Source: featherstone1987, sections 3.6, 5.3, 6.4 and 9.5. A bare number in the margin is an equation there.
Differs from the source: gravity is in p and in b, so that accelerations are those of the motion. Φ is carried outward
instead of its inverse, from zero at the base, which holds for a base that is fixed too; a floating body has it all from
its free joint.
"""

from __future__ import annotations

from hinge.dynamics.articulated import articulated, coupled
from hinge.dynamics.composite import composite, forward_composite
from hinge.dynamics.kinematics import FRAMES, acceleration, from_body, jacobian, mix, to_body
from hinge.dynamics.registry import EXTERNAL, FORCE, PLACE, POSITION, SPATIAL, VELOCITY, Quantity, algorithm, rows
from hinge.dynamics.solve import LDL, plus_diagonal
from hinge.graph import inner, units
from hinge.spatial import (
    ArticulatedInertia,
    Force,
    ForceSpace,
    Mat3,
    Motion,
    MotionSpace,
    RigidInertia,
    Sym3,
    Vec3,
    cross,
)

INERTIA = Quantity("forces per acceleration", lambda m: (6, 6), give=rows)
TABLE = Quantity("accelerations per force", lambda m: (6, 6), give=rows)


class Articulated:
    """The articulated bodies of a tree: H⁻¹ times forces, and accelerations of bodies per force on them."""

    def __init__(self, model, q):
        self.model = model
        self.X, self.S, self.U, self.D = model.per_body(4)
        self.IA = IA = [I.articulated() for I in model.inertia]
        IA[0] = ArticulatedInertia()
        for i, _ in model.outward():
            self.X[i] = model.joint[i].transform(q[i]) @ model.placement[i]
            self.S[i] = model.joint[i].axes(q[i])
        self.pivots = []
        for i, p in model.inward():
            self.U[i] = IA[i] @ self.S[i]
            full = plus_diagonal(self.S[i].T @ self.U[i], model.armature(i))
            self.D[i] = LDL(full, model.joint_label(i))
            IA[p] = IA[p] + self.X[i].T @ IA[i].without(self.U[i], ForceSpace(self.D[i].solve(self.U[i])))
            self.pivots += self.D[i].pivots

    def biases(self, q, qd, tau, external):
        """p of each body: the force it needs for no acceleration, its own joint cut."""
        model = self.model
        v, c, g, pA = model.per_body(4)
        v[0], g[0], pA[0] = Motion(), model.gravity_motion, Force()
        for i, p in model.outward():
            joint, I = model.joint[i], model.inertia[i]
            vJ = joint.velocity(q[i], qd[i])
            v[i], g[i] = self.X[i] @ v[p] + vJ, self.X[i] @ g[p]  # (6.60)
            c[i] = cross(v[i], vJ) + joint.bias(q[i], qd[i])  # (6.56)
            pA[i] = cross(v[i], I @ v[i]) - I @ g[i] - external[i]  # (6.61)
        for i, p in model.inward():
            taken = zip(tau[i], model.resistance(i, q, qd), self.U[i].T @ c[i], self.S[i].T @ pA[i], strict=True)
            u = [t - r - x - f for t, r, x, f in taken]  # (6.59)
            pA[p] = pA[p] + self.X[i].T @ (pA[i] + self.IA[i] @ c[i] + self.U[i] @ self.D[i].solve(u))  # (6.63)
        return pA

    def solve(self, tau):
        """H⁻¹ tau."""
        return self.response(tau, [Force()] * len(self.model.parent))[0]

    def response(self, tau, pushed):
        """Accelerations of joints and of bodies for joint forces and for forces on bodies, in their coordinates."""
        model, f, u, a = self.model, list(pushed), [None] * len(pushed), [Motion()] * len(pushed)
        for i, p in model.inward():
            given = tau[model.slices[i][1]]
            u[i] = [t + x for t, x in zip(given, self.S[i].T @ f[i], strict=True)]
            f[p] = f[p] + self.X[i].T @ (f[i] - self.U[i] @ self.D[i].solve(u[i]))
        qdd = []
        for i, p in model.outward():
            carried = self.X[i] @ a[p]
            answer = self.D[i].solve([x - y for x, y in zip(u[i], self.U[i].T @ carried, strict=True)])
            a[i] = carried + self.S[i] @ answer
            qdd += answer
        return qdd, a

    def onward(self, i, a):
        """The acceleration of body i that its parent's takes along: the propagator A_i."""
        carried = self.X[i] @ a
        given_way = self.D[i].solve(self.U[i].T @ carried)
        return carried - self.S[i] @ given_way  # (9.39)

    def back(self, i, f):
        """The force on the parent that stands for a force on body i: A_iᵀ."""
        return self.X[i].T @ (f - self.U[i] @ self.D[i].solve(self.S[i].T @ f))

    def inverse_inertias(self):
        """Φ_i of each body, as the motions that the six unit forces make."""
        phi = [MotionSpace([Motion()] * 6) for _ in self.model.parent]
        for i, p in self.model.outward():
            phi[i] = MotionSpace(
                self.onward(i, phi[p] @ self.back(i, f)) + self.S[i] @ self.D[i].solve(self.S[i].T @ f)
                for f in map(_force, units(6))
            )
        return phi

    def cross_inertia(self, phi, i, j):
        """Φ_ij, as the motions of body i that unit forces on body j make: (9.35), by their nearest common ancestor."""
        ancestors = [i]
        while ancestors[-1]:
            ancestors.append(self.model.parent[ancestors[-1]])
        forces, at = list(map(_force, units(6))), j
        while at not in ancestors:
            forces, at = [self.back(at, f) for f in forces], self.model.parent[at]
        motions = [phi[at] @ f for f in forces]
        for k in reversed(ancestors[: ancestors.index(at)]):
            motions = [self.onward(k, m) for m in motions]  # (9.34)
        return MotionSpace(motions)


def _force(entries):
    return Force(Vec3(tuple(entries[:3])), Vec3(tuple(entries[3:])))


def _met(model, q, at, frame, inertias):
    """The inertia of the frame's body in the coordinates asked for."""
    entries = mix(at.on, [[*I.I, *I.H, *I.M] for I in inertias])
    own = ArticulatedInertia(Sym3(entries[:6]), Mat3(entries[6:15]), Sym3(entries[15:]))
    return (to_body(model, q, at, frame).T @ own).matrix()


def _table(columns):
    entries = [list(m) for m in columns]
    return [[column[k] for column in entries] for k in range(6)]


@algorithm("composite_inertia", q=POSITION, at=PLACE, returns=INERTIA, options=FRAMES)
def composite_inertia(model, q, at, frame="body"):
    """The inertia IC of a link and all it carries as one rigid body, the joints beyond it stiff.

    Takes q (nq) and a name; gives (6, 6), from motions [ω; v] to forces [couple; force]. `frame` is as for `jacobian`.
    Of the base it is that of all moving bodies. Armature is not in it.

    >>> hinge.samples.planar_2r().composite_inertia([0.1, 0.2], "upper")[3, 3]
    np.float64(2.0)
    """
    IC = [RigidInertia(), *model.inertia[1:]]
    for i, p in model.inward():
        IC[p] = IC[p] + (model.joint[i].transform(q[i]) @ model.placement[i]).T @ IC[i]  # (5.11)
    return _met(model, q, at, frame, [I.articulated() for I in IC])


@algorithm("articulated_inertia", q=POSITION, at=PLACE, returns=INERTIA, options=FRAMES, pivots=True, refuses=coupled)
def articulated_inertia(model, q, at, frame="body"):
    """The inertia IA that a force on a link meets, its own joint cut and those beyond it free: f = IA a + p.

    Takes q (nq) and a name; gives (6, 6), symmetric, from motions [ω; v] to forces [couple; force]. `frame` is as for
    `jacobian`. With no joint cut it is the inverse of `inverse_inertia`, where the link has six freedoms.

    >>> hinge.samples.planar_2r().articulated_inertia([0.1, 0.2], "upper")[3, 3].round(3)
    np.float64(1.97)
    """
    tree = Articulated(model, q)
    return _met(model, q, at, frame, tree.IA), tree.pivots


@algorithm("articulated_bias", q=POSITION, qd=VELOCITY, tau=FORCE, at=PLACE, external=EXTERNAL, returns=SPATIAL,
           options=FRAMES, pivots=True, refuses=coupled)  # fmt: skip
def articulated_bias(model, q, qd, tau, at, external, frame="body"):
    """The force p that a link needs for no acceleration, its own joint cut and those beyond it free: f = IA a + p.

    Takes q (nq), qd and tau (nv) and a name; gives (6,), [couple; force]; a is the spatial acceleration. `frame` is as
    for `jacobian`. Gravity and `external` are in, and what else `joint_terms` names.

    >>> hinge.samples.planar_2r().articulated_bias([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], "lower")[5]
    np.float64(9.81)
    """
    tree = Articulated(model, q)
    p = _force(mix(at.on, [list(f) for f in tree.biases(q, qd, tau, external)]))
    return list(to_body(model, q, at, frame).T @ p), tree.pivots


@algorithm("bias_acceleration", priority=1, method="articulated", q=POSITION, qd=VELOCITY, tau=FORCE, at=PLACE,
           external=EXTERNAL, returns=SPATIAL, options=FRAMES, pivots=True, refuses=coupled)  # fmt: skip
def bias_acceleration(model, q, qd, tau, at, external, frame="body", forward=articulated):
    """The spatial acceleration b of a link or frame where no further force acts on it: a = Φ f + b.

    Takes q (nq), qd and tau (nv) and a name; gives (6,), [α; a]; `frame` is as for `jacobian`. Φ is `inverse_inertia`.

    >>> hinge.samples.planar_2r().bias_acceleration([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], "hand")[5].round(3)
    np.float64(-8.409)
    """
    qdd, pivots = forward(model, q, qd, tau, external, (Motion(), Motion()))
    return acceleration(model, q, qd, model.joint_velocities(qdd), at, frame), pivots


@algorithm("bias_acceleration", method="mass_matrix", q=POSITION, qd=VELOCITY, tau=FORCE, at=PLACE, external=EXTERNAL,
           returns=SPATIAL, options=FRAMES, pivots=True)  # fmt: skip
def bias_acceleration_by_mass(model, q, qd, tau, at, external, frame="body"):
    """The bias acceleration by way of the mass matrix."""
    return bias_acceleration(model, q, qd, tau, at, external, frame, forward_composite)


@algorithm(
    "inverse_inertia", priority=1, method="articulated", q=POSITION, at=PLACE, returns=TABLE, options=FRAMES,
    pivots=True, refuses=coupled,
)  # fmt: skip
def inverse_inertia(model, q, at, frame="body"):
    """The acceleration of a link or frame for each force on it, all joints free to move: J H⁻¹ Jᵀ (6, 6).

    Takes q (nq) and a name; `frame` is as for `jacobian`. Loops are not looked at.

    >>> hinge.samples.planar_2r().inverse_inertia([0.1, 0.2], "hand").shape
    (6, 6)
    """
    tree = Articulated(model, q)
    phi, seen = tree.inverse_inertias(), from_body(model, q, at, frame)
    columns = []
    for f in map(_force, units(6)):
        own = seen.T @ f
        columns.append(seen @ (MotionSpace(one @ own for one in phi) @ at.on))
    return _table(columns), tree.pivots


@algorithm("inverse_inertia", method="mass_matrix", q=POSITION, at=PLACE, returns=TABLE, options=FRAMES, pivots=True)
def inverse_inertia_by_mass(model, q, at, frame="body"):
    """The inverse inertia by way of the mass matrix."""
    return cross_inertia_by_mass(model, q, at, at, frame)


@algorithm(
    "cross_inertia", priority=1, method="articulated", q=POSITION, a=PLACE, b=PLACE, returns=TABLE, options=FRAMES,
    pivots=True, refuses=coupled,
)  # fmt: skip
def cross_inertia(model, q, a, b, frame="body"):
    """The acceleration of one link or frame for each force on another: J_a H⁻¹ J_bᵀ (6, 6).

    Takes q (nq) and two names; rows are in the coordinates of the first, columns in those of the second.

    >>> hinge.samples.planar_2r().cross_inertia([0.1, 0.2], "hand", "upper").shape
    (6, 6)
    """
    tree = Articulated(model, q)
    here, there = from_body(model, q, a, frame), from_body(model, q, b, frame)
    columns = []
    for f in map(_force, units(6)):
        own = there.T @ f
        _, moved = tree.response([0.0] * model.nv, [own * weight for weight in b.on])
        columns.append(here @ (MotionSpace(moved) @ a.on))
    return _table(columns), tree.pivots


@algorithm(
    "cross_inertia", method="mass_matrix", q=POSITION, a=PLACE, b=PLACE, returns=TABLE, options=FRAMES, pivots=True
)
def cross_inertia_by_mass(model, q, a, b, frame="body"):
    """The cross inertia by way of the mass matrix."""
    H = LDL(composite(model, q), model.joint_label())
    Ja, Jb = jacobian(model, q, a, frame), jacobian(model, q, b, frame)
    W = [H.solve(row) for row in Jb]
    return [[inner(row, w) for w in W] for row in Ja], H.pivots
