"""What a robot is: joints, the frozen model, the builder, cheap frames, findings, samples.

Read joints, then model, build, frames.
"""

from hinge.model import mechanisms  # noqa: F401  registers its joints
from hinge.model.build import Builder
from hinge.model.frames import reframe, unmoved
from hinge.model.height_fields import Heights
from hinge.model.joints import JOINTS, Joint
from hinge.model.model import Follow, Frame, JointData, Model
from hinge.model.report import Finding, Report
from hinge.model.shapes import Shape
from hinge.model.vary import Parameter, parameter, varied

__all__ = [
    "JOINTS",
    "Builder",
    "Finding",
    "Follow",
    "Frame",
    "Heights",
    "Joint",
    "JointData",
    "Model",
    "Parameter",
    "Report",
    "Shape",
    "parameter",
    "reframe",
    "unmoved",
    "varied",
]  # fmt: skip
