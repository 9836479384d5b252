"""The version, which nothing else is needed to know."""

__version__ = "0.1.0"
