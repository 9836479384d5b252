"""`python -m hinge.cli` is `hinge`."""

from hinge.cli import main

if __name__ == "__main__":
    main(prog_name="hinge")
