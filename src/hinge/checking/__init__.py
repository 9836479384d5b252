"""The doctor: what is wrong with a robot file, whether its dynamics hold here, and repairs.

Read diagnosis, then proofs, others, repairs.
"""

from hinge.checking.diagnosis import Diagnosis, check
from hinge.checking.proofs import Proof
from hinge.checking.repairs import repair

__all__ = ["Diagnosis", "Proof", "check", "repair"]
