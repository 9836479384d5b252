"""The version, which nothing else is needed to know."""

__version__ = "0.9.0"
