"""The torque regressor: joint forces as a linear map of what bodies and joints are made of.

    tau = Y(q, qd, qdd) π

A body's force is linear in its ten inertial numbers, so each column of Y is that force for a unit of one number, felt
through the body's Jacobian. The numbers of body i are mass, first moment and second moment about the origin, in the
order of `RigidInertia`, in the frame that has the body's name. A joint's armature, damping, friction and stiffness
follow, a column a velocity, so far as `joint_terms` has them.
Source: featherstone1987, section 4.5. A bare number in the margin is an equation there.
Differs from the source: joint axes are carried outward to the bodies, not forces inward to the joints: there are ten
columns of forces for each axis.
"""

from __future__ import annotations

from hinge.dynamics.motion import carried
from hinge.dynamics.newton_euler import motions
from hinge.dynamics.registry import ACCELERATION, BASE, POSITION, REGRESSOR, VELOCITY, algorithm
from hinge.graph import units
from hinge.model.model import NUMBERS
from hinge.model.potentials import unsayable
from hinge.spatial import ForceSpace, Motion, RigidInertia, Sym3, Vec3, cross

UNITS = [RigidInertia(u[0], Vec3(u[1:4]), Sym3(u[4:])) for u in units(NUMBERS)]


@algorithm(
    "regressor", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, base_motion=BASE, returns=REGRESSOR, refuses=unsayable
)
def regressor(model, q, qd, qdd, base_motion):
    """The matrix Y for which Y π is inverse dynamics, where π is `hinge.identify.parameters(robot)`.

    Takes q (nq), qd and qdd (nv); gives (nv, p). Ten columns a body (m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy, in
    the frame with its name), then one for each velocity of each joint and each of `joint_terms`.

    >>> arm = hinge.samples.planar_2r()
    >>> arm.regressor([0.0, 0.0], [0.0, 0.0], [1.0, 0.0]).shape
    (2, 22)
    """
    X, S, v, a = motions(model, q, qd, qdd, base_motion)
    J = [{} for _ in model.parent]  # of each body: joint → its axes there
    Y = [[0.0] * model.parameter_count for _ in range(model.nv)]

    # outward: the force of each body for a unit of each of its numbers, as every joint it stands on feels it
    for i, p in model.outward():
        F = model.frames[model.body_name[i]].transform
        vF, c = carried(F, v[i], Motion(), Motion())
        aF = F @ a[i] + c
        f = ForceSpace(I @ aF + cross(vF, I @ vF) for I in UNITS)  # (4.13)
        J[i] = {k: X[i] @ axes for k, axes in J[p].items()} | {i: S[i]}
        for k, axes in J[i].items():
            _add(model, Y, k, NUMBERS * (i - 1), (F @ axes).T @ f)  # (4.14), (4.15)

    # what a unit of each joint's own terms takes
    for column, (term, i, k) in enumerate(model.in_terms, start=NUMBERS * model.count):
        unit = [float(r == k) for r in range(model.joint[i].nv)]
        _add(model, Y, i, column, [[x] for x in model.taken(term, i, unit, q[i], qd[i], qdd[i])])
    return Y


def _add(model, Y, k, left, block):
    """What joint k feels, a row a velocity, onto the rows of the user's velocities: Gᵀ."""
    ratio, top = model.ratio(k), model.slices[k][1].start
    for r, row in enumerate(block, start=top):
        for c, entry in enumerate(row, start=left):
            Y[r][c] = Y[r][c] + ratio * entry
