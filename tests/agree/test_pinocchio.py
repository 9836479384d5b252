"""Every real robot of example-robot-data against Pinocchio, on a fixed and on a floating base: the core quantities."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from real_robots import ANGULAR_FIRST, FILES, REFUSED, UNSOLVABLE, WELDED, Pair, close, few, named
from sweeps import swept

import hinge

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
if not FILES:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)

CASES = [(file, floating) for file in FILES if file not in REFUSED for floating in (False, True)]
MOVING = [(file, floating) for file, floating in CASES if floating or file not in WELDED]


@pytest.fixture(
    scope="module", params=swept(MOVING, few), ids=[f"{file}-{named(floating)}" for file, floating in MOVING]
)
def both(request):
    file, floating = request.param
    return file, Pair(FILES[file], floating)


def full(H):
    return np.triu(H) + np.triu(H, 1).T


def test_the_robots_are_there():
    assert len(FILES) >= 77


@pytest.mark.parametrize("file", REFUSED)
def test_a_file_that_is_no_robot_is_refused_by_name(file):
    with pytest.raises(hinge.ModelError, match=FILES[file].name) as refused:
        hinge.load(FILES[file])
    assert refused.value.code == REFUSED[file]
    with pytest.raises(ValueError, match="valid URDF"):
        pin.buildModelFromUrdf(str(FILES[file]))


@pytest.mark.parametrize("file", sorted(WELDED))
def test_a_robot_without_moving_joints_has_no_coordinates(file):
    robot = hinge.load(FILES[file])
    assert (robot.nq, robot.nv, robot.mass, robot.body_names) == (0, 0, 0.0, ())
    assert robot.inverse_dynamics([], [], [], backend="interpret").shape == (0,)


def test_joint_forces_agree(both):
    _, p = both
    close(p.ordered(p.call("inverse_dynamics", p.hq, p.hv, p.ha)), p.theirs(pin.rnea), p.tol)
    if p.floating:  # the same tree and more
        bias = p.theirs(lambda m, d, q, v, a: pin.nonLinearEffects(m, d, q, v))
        close(p.ordered(p.call("bias_force", p.hq, p.hv)), bias, p.tol)


def test_mass_matrices_agree(both):
    _, p = both
    theirs = p.theirs(lambda m, d, q, v, a: full(pin.crba(m, d, q)))
    ours = p.call("mass_matrix", p.hq)
    close(ours[:, p.index][:, :, p.index], theirs, p.tol)
    assert np.array_equal(ours, ours.swapaxes(1, 2))


@pytest.mark.sampled(7)
def test_forward_dynamics_undoes_their_inverse_dynamics(both):
    file, p = both
    tau = np.zeros_like(p.hv)
    tau[:, p.index] = p.theirs(pin.rnea)
    if file in UNSOLVABLE:
        with pytest.raises(hinge.NotCovered, match=f"joint '{UNSOLVABLE[file]}' moves nothing that has inertia"):
            p.call("forward_dynamics", p.hq, p.hv, tau)
        return
    # an error in the matrix is magnified by its condition, which is up to 1e10 here
    condition = max(np.linalg.cond(p.theirs(lambda m, d, q, v, a: full(pin.crba(m, d, q)))))
    tol = 1e-11 + 1e-16 * condition if p.tol < 1e-12 else 1e-7
    close(p.ordered(p.call("forward_dynamics", p.hq, p.hv, tau)), p.a, tol)


def test_poses_and_jacobians_agree(both):
    _, p = both

    def place(m, d, q, v, a):
        pin.framesForwardKinematics(m, d, q)
        return [d.oMf[k].homogeneous for _, k in frames]

    frames = p.frames(3)
    for (name, _), theirs in zip(frames, p.theirs(place).swapaxes(0, 1), strict=True):
        close(p.call("pose", p.hq, name), theirs, p.tol)
    for name, k in frames[:1]:
        theirs = p.theirs(lambda m, d, q, v, a, k=k: pin.computeFrameJacobian(m, d, q, k, pin.LOCAL)[ANGULAR_FIRST])
        close(p.ordered(p.call("jacobian", p.hq, name)), theirs, p.tol)


COUPLED = {  # velocities with mimic joints following
    "baxter_description/urdf/baxter.urdf": 17,
    "panda_description/urdf/panda.urdf": 8,
    "pr2_description/urdf/pr2.urdf": 20,
    "romeo_description/urdf/romeo.urdf": 33,
    "talos_data/robots/talos_full_v2.urdf": 32,
    "tiago_pro_description/robots/tiago_pro.urdf": 23,
}


def coupling(path, names, leaders):
    """G and c in joint = G q + c, from the file itself: joints by `names`, coordinates by `leaders`."""
    G, c = np.zeros((len(names), len(leaders))), np.zeros(len(names))
    rules = {joint.get("name"): joint.find("mimic") for joint in ET.parse(path).getroot().findall("joint")}
    for row, name in enumerate(names):
        rule = rules[name]
        if rule is None:
            G[row, leaders.index(name)] = 1.0
        else:
            G[row, leaders.index(rule.get("joint"))] = float(rule.get("multiplier", 1.0))
            c[row] = float(rule.get("offset", 0.0))
    return G, c


@pytest.mark.sampled(3)
@pytest.mark.parametrize("file", COUPLED)
def test_mimic_joints_are_eliminated_exactly(file):
    """Gᵀ H G and Gᵀ tau of Pinocchio's robot with all joints independent."""
    p = Pair(FILES[file], floating=False)
    tied = hinge.load(FILES[file])
    assert tied.nv == COUPLED[file]
    leaders = [name for i, name in enumerate(tied.joint_names, start=1) if i in tied.model.leaders]
    G, c = coupling(FILES[file], list(p.model.names)[1:], leaders)
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-1, 1, (3, tied.nv))
    for j, x in enumerate(G @ q + c, start=1):
        at = p.model.idx_qs[j]
        p.q[0, at : at + p.model.nqs[j]] = [np.cos(x), np.sin(x)] if p.model.nqs[j] == 2 else x
    tau = pin.rnea(p.model, p.data, p.q[0], G @ qd, G @ qdd)
    close(tied.inverse_dynamics(q, qd, qdd, backend="interpret"), G.T @ tau, p.tol)
    H = full(pin.crba(p.model, p.data, p.q[0]))
    close(tied.mass_matrix(q, backend="interpret"), G.T @ H @ G, p.tol)
    assert np.array_equal(tied.model.coupling[p.index], G)
