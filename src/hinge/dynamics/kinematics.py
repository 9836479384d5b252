"""Where bodies and frames are, how they move, and how joint velocities move them.

The frame is an input, or one that is known: then only the path to it is in the program. Motions are found in base
coordinates, summed along the path from the base to the frame, and given in the coordinates asked for:

    "body"      the frame's own coordinates
    "base"      spatial (Plücker) coordinates at the base origin
    "aligned"   the frame's origin, axes parallel to the base

Source: featherstone1987, sections 2.6, 2.7 and 4.3. A bare number in the margin is an equation there.
"""

from __future__ import annotations

from hinge.dynamics.registry import (
    ACCELERATION,
    JACOBIAN,
    PLACE,
    POSE,
    POSITION,
    SPATIAL,
    VELOCITY,
    algorithm,
)
from hinge.spatial import IDENTITY, ZERO, Mat3, Motion, MotionSpace, Rigid, Transform, Vec3, cross, cross3

FRAMES = {"frame": ("body", "base", "aligned")}


def poses(model, q):
    """For each body its axes and origin in base coordinates."""
    R, r = model.per_body(2)
    R[0], r[0] = IDENTITY, ZERO
    for i, p in model.outward():
        X = model.joint[i].transform(q[i]) @ model.placement[i]
        R[i], r[i] = X.pose(R[p], r[p])
    return R, r


def axes_in_base(model, q, R, r):
    """For each body its joint axes in base coordinates: 0X_i S_i."""
    return [
        MotionSpace(to_base(m, R[i], r[i]) for m in model.joint[i].axes(q[i])) if i else MotionSpace()
        for i in range(len(model.parent))
    ]


def frame_pose(place, R, r):
    """Axes and origin of the chosen frame."""
    body_R, body_r = Mat3(mix(place.on, R)), Vec3(tuple(mix(place.on, r)))
    return body_R.times(place.R), body_r + body_R @ place.p


def from_body(model, q, at, frame):
    """From the coordinates of the frame's body to those asked for."""
    own = Transform(Rigid(at.R.T, at.p))
    if frame == "body":
        return own
    R, r = frame_pose(at, *poses(model, q))
    turned = Transform(Rigid(R)) @ own
    return turned if frame == "aligned" else Transform(Rigid(IDENTITY, -r)) @ turned


def to_body(model, q, at, frame):
    """From the coordinates asked for to those of the frame's body: the inverse of `from_body`."""
    own = Transform(Rigid(at.R, -(at.R.T @ at.p)))
    if frame == "body":
        return own
    R, r = frame_pose(at, *poses(model, q))
    turned = own @ Transform(Rigid(R.T))
    return turned if frame == "aligned" else turned @ Transform(Rigid(IDENTITY, r))


@algorithm("pose", q=POSITION, at=PLACE, returns=POSE)
def pose(model, q, at):
    """Where a link or frame is: the 4×4 matrix that takes its coordinates to the base's.

    Takes q (nq) and a name; gives (4, 4), lengths in m.

    >>> hinge.samples.planar_2r().pose([0.0, 0.0], "hand")[:3, 3]
    array([2., 0., 0.])
    """
    R, r = frame_pose(at, *poses(model, q))
    return [*([*R.row(i), r[i]] for i in range(3)), [0.0, 0.0, 0.0, 1.0]]


@algorithm("jacobian", q=POSITION, at=PLACE, returns=JACOBIAN, options=FRAMES)
def jacobian(model, q, at, frame="body"):
    """The motion of a link or frame for each joint velocity: v = J qd, angular rows first.

    Takes q (nq) and a name; gives (6, nv). `frame` is "body", "base" or "aligned".

    >>> hinge.samples.planar_2r().jacobian([0.0, 0.0], "hand").shape
    (6, 2)
    """
    R, r = poses(model, q)
    S = axes_in_base(model, q, R, r)
    seen = _seen_in(frame, *frame_pose(at, R, r))
    return _columns(model, [[seen(s * at.path[i]) for s in S[i]] for i in range(len(S))])


@algorithm("jacobian_rate", q=POSITION, qd=VELOCITY, at=PLACE, returns=JACOBIAN, options=FRAMES)
def jacobian_rate(model, q, qd, at, frame="body"):
    """The rate of change of `jacobian`, entry by entry, in the same coordinates.

    Takes q (nq), qd (nv) and a name; gives (6, nv).

    >>> hinge.samples.planar_2r().jacobian_rate([0.0, 0.0], [1.0, 0.0], "hand").shape
    (6, 2)
    """
    R, r = poses(model, q)
    S = axes_in_base(model, q, R, r)
    vJ = joint_velocities_in_base(model, q, qd, S, R, r)
    Sd = axis_rates_in_base(model, q, qd, S, velocities_in_base(model, vJ), R, r)
    place = frame_pose(at, R, r)
    seen, drift = _seen_in(frame, *place), _drift(frame, _along_path(at, vJ), place[1])
    columns = [[seen((sd - drift(s)) * at.path[i]) for s, sd in zip(S[i], Sd[i], strict=True)] for i in range(len(S))]
    return _columns(model, columns)


@algorithm("velocity", q=POSITION, qd=VELOCITY, at=PLACE, returns=SPATIAL, options=FRAMES)
def velocity(model, q, qd, at, frame="body"):
    """The spatial velocity [ω; v] of a link or frame.

    Takes q (nq), qd (nv) and a name; gives (6,) in rad/s and m/s. `frame` is "body", "base" or "aligned".

    >>> hinge.samples.planar_2r().velocity([0.0, 0.0], [1.0, 0.0], "hand", frame="aligned")
    array([ 0., -1.,  0.,  0.,  0.,  2.])
    """
    R, r = poses(model, q)
    vJ = joint_velocities_in_base(model, q, qd, axes_in_base(model, q, R, r), R, r)
    return list(_seen_in(frame, *frame_pose(at, R, r))(_along_path(at, vJ)))


@algorithm("acceleration", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, at=PLACE, returns=SPATIAL,
           options={**FRAMES, "kind": ("spatial", "classical")})  # fmt: skip
def acceleration(model, q, qd, qdd, at, frame="body", kind="spatial"):
    """The acceleration [α; a] of a link or frame, gravity not included.

    Takes q (nq), qd and qdd (nv) and a name; gives (6,) in rad/s² and m/s². kind="spatial" is the rate of change of
    the spatial velocity; the linear part of kind="classical" is the acceleration of a point of the body: of the frame's
    own origin, or with frame="base" of the point that is passing the base origin.

    >>> arm = hinge.samples.planar_2r()
    >>> arm.acceleration([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "hand", frame="aligned", kind="classical")[3]
    np.float64(-2.0)
    """
    R, r = poses(model, q)
    S = axes_in_base(model, q, R, r)
    vJ = joint_velocities_in_base(model, q, qd, S, R, r)
    v = velocities_in_base(model, vJ)
    aJ = [own + S[i] @ qdd[i] for i, own in enumerate(_joint_biases(model, q, qd, vJ, v, R, r))]
    seen = _seen_in(frame, *frame_pose(at, R, r))
    home, total = seen(_along_path(at, vJ)), seen(_along_path(at, aJ))  # section 2.7, example 3
    if kind == "classical":
        total = Motion(total.ang, total.lin + cross3(home.ang, home.lin))  # (2.28), (2.29)
    return list(total)


def _along_path(at, motions):
    """The sum of motions across the joints from the base to the chosen frame."""
    total = Motion()
    for weight, motion in zip(at.path[1:], motions[1:], strict=True):
        total = total + motion * weight
    return total


def joint_velocities_in_base(model, q, qd, S, R, r):
    """The motion across each joint, in base coordinates."""
    return [S[i] @ qd[i] + to_base(joint.drift(q[i]), R[i], r[i]) for i, joint in enumerate(model.joint)]


def velocities_in_base(model, vJ):
    """The spatial velocity of each body in base coordinates."""
    v = [Motion()] * len(vJ)
    for i, p in model.outward():
        v[i] = v[p] + vJ[i]  # (4.6)
    return v


def _joint_biases(model, q, qd, vJ, v, R, r):
    """The part of the acceleration across each joint that velocities make, in base coordinates."""
    pairs = enumerate(model.joint)
    return [cross(v[i], vJ[i]) + to_base(joint.bias(q[i], qd[i]), R[i], r[i]) for i, joint in pairs]


def bias_accelerations_in_base(model, q, qd, vJ, v, R, r):
    """The spatial acceleration each body has when no joint accelerates, in base coordinates."""
    a, across = [Motion()] * len(vJ), _joint_biases(model, q, qd, vJ, v, R, r)
    for i, p in model.outward():
        a[i] = a[p] + across[i]  # (4.7)
    return a


def axis_rates_in_base(model, q, qd, S, v, R, r):
    """How the joint axes change in space, in base coordinates: carried along with their body, and by themselves."""
    made = [MotionSpace()] * len(S)
    for i, _ in model.outward():
        own = model.joint[i].axes_rate(q[i], qd[i])
        pairs = zip(S[i], own, strict=True)
        made[i] = MotionSpace(cross(v[i], s) + to_base(rate, R[i], r[i]) for s, rate in pairs)  # (2.26), (2.27)
    return made


def to_base(m, R, r):
    """A motion from a body's coordinates to the base's, when the body stands at (R, r)."""
    ang = R @ m.ang
    return Motion(ang, R @ m.lin + cross3(r, ang))


def _seen_in(frame, R, r):
    """The map that takes a motion from base coordinates to those asked for."""
    if frame == "base":
        return lambda m: m
    if frame == "aligned":
        return lambda m: Motion(m.ang, m.lin + cross3(m.ang, r))
    return lambda m: Motion(R.T @ m.ang, R.T @ (m.lin + cross3(m.ang, r)))


def _drift(frame, v, r):
    """What the coordinates' own motion takes from the rate of a vector fixed in space."""
    if frame == "base":
        return lambda s: Motion()
    if frame == "aligned":  # only the origin moves
        along = Motion(ZERO, v.lin + cross3(v.ang, r))
        return lambda s: cross(along, s)
    return lambda s: cross(v, s)


def mix(weights, rows):
    """The weighted sum of rows: picks one."""
    total = [0.0] * len(rows[0])
    for w, row in zip(weights, rows, strict=True):
        total = [t + w * x for t, x in zip(total, row, strict=True)]
    return total


def _columns(model, per_body):
    """Motions of each joint's velocities as a 6 × nv matrix over the user's velocities: J G."""
    columns = model.generalised_columns(per_body)
    entries = [list(m) for m in columns]
    return [[entry[k] for entry in entries] for k in range(6)]
