"""The doctor compares MJCF files with MuJoCo: every kind of joint, defaults, references, several joints a body."""

from pathlib import Path

import pytest

import hinge
from hinge.checking.proofs import prove

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

BODIES = """<mujoco model="machine">
  <compiler angle="radian"/>
  <option gravity="0.5 0 -9.81"/>
  <default><joint armature="0.01" damping="0.2"/></default>
  <worldbody>
    <body name="trunk" pos="0 0 1" quat="0.5 0.5 0.1 0.2">
      <freejoint/>
      <inertial pos="0.1 0 0.05" mass="3" diaginertia="0.2 0.3 0.4"/>
      <body name="arm" pos="0.2 0 0" euler="0.3 0 0">
        <joint name="yaw" axis="0 0 1" ref="0.3"/>
        <joint name="pitch" axis="0 1 0" pos="0 0 0.1" stiffness="4"/>
        <inertial pos="0 0 0.2" mass="1" fullinertia="0.03 0.04 0.05 0.001 0.002 0.003"/>
        <body name="hand" pos="0 0 0.4"><joint name="wrist" type="ball"/>
          <inertial pos="0.05 0.02 0" mass="0.5" diaginertia="0.004 0.005 0.006"/></body>
      </body>
      <body name="rail" pos="-0.2 0 0"><joint name="slide" type="slide" axis="1 1 0"/>
        <inertial pos="0 0 0" mass="0.7" diaginertia="0.01 0.01 0.01"/></body>
    </body>
  </worldbody>
</mujoco>"""

pytestmark = pytest.mark.usefixtures("plain_interpreter")


def proofs(source):
    return {proof.name: proof for proof in hinge.check(source, certify=True).proofs}


@pytest.mark.parametrize("as_file", [False, True])
def test_every_kind_of_joint_agrees(tmp_path, as_file):
    path = tmp_path / "machine.xml"
    path.write_text(BODIES)
    made = proofs(path if as_file else BODIES)
    assert made["agrees with MuJoCo"].passed, made["agrees with MuJoCo"]
    assert made["agrees with MuJoCo"].worst < 1e-12
    assert made["agrees with Pinocchio"].detail == "Pinocchio is compared on URDF files."
    assert [proof.name for proof in made.values() if proof.passed is None] == ["machine code", "agrees with Pinocchio"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("old", "new"),
    [('mass="0.7"', 'mass="0.700001"'), ("0.5 0 -9.81", "0.5 0 -9.81001"), ('ref="0.3"', 'ref="0.300001"')],
)
def test_another_machine_does_not(old, new):
    """Gravity is handed over, and is not compared; masses and places are."""
    made = {proof.name: proof for proof in prove(hinge.load(BODIES), BODIES.replace(old, new))}
    assert made["agrees with MuJoCo"].passed is ("9.81" in old)


def test_a_file_with_includes_is_read_from_its_folder(tmp_path):
    body = BODIES.partition("<worldbody>")[2].partition("</worldbody>")[0]
    (tmp_path / "body.xml").write_text(f"<mujoco>{body}</mujoco>")
    path = tmp_path / "machine.xml"
    path.write_text(BODIES.replace(body, '<include file="body.xml"/>'))
    assert proofs(path)["agrees with MuJoCo"].passed


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["ant", "humanoid", "half_cheetah", "swimmer"])
def test_the_models_of_gymnasium_agree(name):
    gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    made = proofs(Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{name}.xml")
    assert {proof.outcome for law, proof in made.items() if law not in ("machine code", "agrees with Pinocchio")} == {
        "passed"
    }
