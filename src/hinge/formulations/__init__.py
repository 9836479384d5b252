"""The older equation sets, each in the notation of its text; importing this package registers them."""

from hinge.formulations import luh, turney, absolute, jacobians, strobe, nasser  # noqa: F401, I001
