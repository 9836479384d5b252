"""`python -m hinge.cli` is `hinge`."""

from hinge.cli import main

main(prog_name="hinge")
