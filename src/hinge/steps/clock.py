"""The input of the programs of a run that says which steps a call takes."""

CLOCK = ("start", "first", "done", "h", "steps", "every", "row", "last")  # s and numbers of steps and rows
