"""The older equation sets, each in the notation of its text; importing this package registers them."""

from hinge.formulations import turney  # noqa: F401
