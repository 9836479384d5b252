"""A sample of the laws in machine code, compiled at the first call; agree/ compares its bits with the interpreter."""

import pytest
import test_coriolis_laws
import test_dynamics_laws
import test_energy_laws
import test_kinematics_laws
from robots import robot_of

pytestmark = pytest.mark.usefixtures("machine_code")
LAWS = [
    test_dynamics_laws.test_forward_dynamics_undoes_inverse_dynamics,
    test_dynamics_laws.test_inverse_dynamics_is_mass_matrix_times_acceleration_plus_bias,
    test_energy_laws.test_kinetic_energy_is_half_of_velocity_times_mass_matrix_times_velocity,
    test_energy_laws.test_gravity_is_a_force_on_each_body,
    test_coriolis_laws.test_the_coriolis_matrix_times_velocity_plus_gravity_is_the_bias_force,
    test_kinematics_laws.test_the_jacobian_takes_joint_velocities_to_the_velocity,
    test_kinematics_laws.test_acceleration_is_jacobian_times_accelerations_plus_its_rate_times_velocities,
]


@pytest.fixture(scope="module", autouse=True)
def _robots_without_kernels():
    """The laws share robots; those that other files have called have kernels already."""
    robot_of.cache_clear()
    yield
    robot_of.cache_clear()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__.removeprefix("test_"))
@pytest.mark.parametrize("family", ["square", "floating mimic"])
def test_a_law_holds_in_machine_code(family, law):
    law.hypothesis.inner_test(family, 0)
