"""The joint forces of a motion by their parts.

    tau = M(q) qdd + C(q, qd) + G(q) + tau_load

and C by whether a term has two rates in it, or the square of one.
Source: turney1981, section 8. A bare number in the margin is an equation there.
"""

from __future__ import annotations

from dataclasses import replace

from hinge.dynamics.newton_euler import gravity_force, newton_euler, still
from hinge.dynamics.registry import ACCELERATION, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.formulations.coefficients import velocity_force
from hinge.graph import total
from hinge.model.driven import driven
from hinge.model.potentials import forceless
from hinge.spatial import Force, Motion

PARTS = {"inertial": FORCE, "coriolis": FORCE, "centrifugal": FORCE, "gravity": FORCE, "load": FORCE}


@algorithm("force_parts", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL, returns=PARTS, refuses=driven)
def force_parts(model, q, qd, qdd, external):
    """What of the joint forces is due to what: (inertial, coriolis, centrifugal, gravity, load).

    Takes q (nq), qd and qdd (nv); gives five arrays (nv), which add up to `inverse_dynamics`. Terms with two different
    rates are Coriolis forces, those with the square of one centrifugal. Load is what `external`, added potentials and
    the joints' own resistance ask, the last where `joint_terms` has it; armature is inertial.

    >>> arm = hinge.samples.planar_2r()
    >>> parts = arm.force_parts([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])
    >>> bool(np.allclose(sum(parts), arm.inverse_dynamics([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])))
    True
    """
    nothing, rest, rates = [Force()] * len(model.parent), (Motion(), Motion()), model.flat(qd)
    floating = forceless(model)
    inertial = newton_euler(forceless(model, ["armature"]), q, still(model), qdd, nothing, rest)
    squares = [velocity_force(model, q, [x if k == j else 0.0 for k, x in enumerate(rates)]) for j in range(model.nv)]
    centrifugal = [total(column) for column in zip(*squares, strict=True)]
    coriolis = [both - alone for both, alone in zip(velocity_force(model, q, rates), centrifugal, strict=True)]
    gravity = gravity_force(replace(floating, gravity=model.gravity), q)
    load = newton_euler(floating, q, still(model), still(model), external, rest)
    for i, _ in model.outward():
        load[i] = [x + r for x, r in zip(load[i], model.resistance(i, q, qd), strict=True)]
    return inertial, FORCE.take(model, coriolis), FORCE.take(model, centrifugal), gravity, load  # (8.1)
