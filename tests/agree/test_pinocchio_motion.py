"""Twenty real robots against Pinocchio, on a fixed and on a floating base: motion of frames, energies, momentum."""

import numpy as np
import pytest
from real_robots import ANGULAR_FIRST, FILES, Pair, close, few, named
from sweeps import swept

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
if not FILES:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)

ROBOTS = (
    "anymal_c_simple_description/urdf/anymal.urdf", "asr_twodof_description/urdf/TwoDofs.urdf",
    "b1_description/urdf/b1-z1.urdf", "baxter_description/urdf/baxter.urdf", "bolt_description/robots/bolt.urdf",
    "borinot_description/urdf/borinot_flying_arm_2.urdf", "bravo7_description/urdf/bravo7_no_ee.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "finger_edu_description/robots/finger_edu.urdf", "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "go2_description/urdf/go2.urdf", "hextilt_description/urdf/hextilt_flying_arm_5.urdf",
    "iris_description/robots/iris.urdf", "kinova_description/robots/kinova.urdf",
    "panda_description/urdf/panda.urdf", "so_arm_description/urdf/so100.urdf", "solo_description/robots/solo.urdf",
    "tiago_description/robots/tiago_no_hand.urdf", "ur_description/urdf/ur5_robot.urdf",
    "xarm_description/urdf/xarm7.urdf",
)  # fmt: skip
CASES = [(file, floating) for file in ROBOTS for floating in (False, True)]
FRAMES = {"body": pin.LOCAL, "base": pin.WORLD, "aligned": pin.LOCAL_WORLD_ALIGNED}


@pytest.fixture(scope="module", params=swept(CASES, few), ids=[f"{file}-{named(floating)}" for file, floating in CASES])
def both(request):
    file, floating = request.param
    return Pair(FILES[file], floating)


def moved(m, d, q, v, a):
    """Put everything Pinocchio knows of one state into its data."""
    pin.forwardKinematics(m, d, q, v, a)
    pin.computeJointJacobiansTimeVariation(m, d, q, v)  # the Jacobians too
    pin.updateFramePlacements(m, d)


@pytest.mark.sampled(4)
def test_jacobians_and_their_rates_agree_in_three_frames(both):
    for name, k in both.frames(2):
        for frame, reference in FRAMES.items():

            def theirs(m, d, q, v, a, k=k, reference=reference):
                moved(m, d, q, v, a)
                of = pin.getFrameJacobian, pin.getFrameJacobianTimeVariation
                return [f(m, d, k, reference)[ANGULAR_FIRST] for f in of]

            J, rate = both.theirs(theirs).swapaxes(0, 1)
            close(both.ordered(both.call("jacobian", both.hq, name, frame=frame)), J, both.tol)
            ours = both.ordered(both.call("jacobian_rate", both.hq, both.hv, name, frame=frame))
            close(ours, rate, both.tol, size=np.max(np.abs(J)) * np.max(np.abs(both.v)))


@pytest.mark.sampled(4)
def test_velocities_and_accelerations_agree_in_three_frames(both):
    for name, k in both.frames(2):
        for frame, reference in FRAMES.items():

            def theirs(m, d, q, v, a, k=k, reference=reference):
                moved(m, d, q, v, a)
                of = pin.getFrameVelocity, pin.getFrameAcceleration, pin.getFrameClassicalAcceleration
                return [f(m, d, k, reference).vector[ANGULAR_FIRST] for f in of]

            velocity, spatial, classical = both.theirs(theirs).swapaxes(0, 1)
            close(both.call("velocity", both.hq, both.hv, name, frame=frame), velocity, both.tol)
            for kind, expected in (("spatial", spatial), ("classical", classical)):
                ours = both.call("acceleration", both.hq, both.hv, both.ha, name, frame=frame, kind=kind)
                close(ours, expected, both.tol)


def test_energies_agree(both):
    kinetic = both.theirs(lambda m, d, q, v, a: pin.computeKineticEnergy(m, d, q, v))
    potential = both.theirs(lambda m, d, q, v, a: pin.computePotentialEnergy(m, d, q))
    close(both.call("kinetic_energy", both.hq, both.hv), kinetic, both.tol)
    close(both.call("potential_energy", both.hq), potential, both.tol)


def test_gravity_agrees(both):
    theirs = both.theirs(lambda m, d, q, v, a: pin.computeGeneralizedGravity(m, d, q))
    close(both.ordered(both.call("gravity_force", both.hq)), theirs, both.tol)


def test_mass_centre_of_mass_and_momentum_agree(both):
    center = both.theirs(lambda m, d, q, v, a: pin.centerOfMass(m, d, q))
    close(both.call("center_of_mass", both.hq), center, both.tol)
    np.testing.assert_allclose(both.robot.mass, sum(I.mass for I in both.model.inertias[1:]), rtol=1e-14)
    about_com = both.theirs(lambda m, d, q, v, a: pin.computeCentroidalMomentum(m, d, q, v).vector[ANGULAR_FIRST])
    close(both.call("momentum", both.hq, both.hv, about="com"), about_com, both.tol)
    about_base = about_com.copy()
    about_base[:, :3] += np.cross(center, about_com[:, 3:])
    close(both.call("momentum", both.hq, both.hv), about_base, both.tol)


def test_coriolis_matrices_agree(both):
    """Their product with the velocity; and whole on a fixed base, where both are the one of the Christoffel symbols."""
    theirs = both.theirs(lambda m, d, q, v, a: pin.computeCoriolisMatrix(m, d, q, v))
    ours = both.call("coriolis_matrix", both.hq, both.hv)
    speed = np.max(np.abs(both.v))
    size = np.max(np.abs(both.theirs(lambda m, d, q, v, a: pin.crba(m, d, q)))) * speed
    product = np.einsum("sij,sj->si", theirs, both.v)
    close(both.ordered(np.einsum("sij,sj->si", ours, both.hv)), product, both.tol, size * speed)
    if not both.floating:
        close(ours[:, both.index][:, :, both.index], theirs, both.tol, size)
