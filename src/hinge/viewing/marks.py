"""What can be shown on a robot besides its links, and how large and in which colours."""

AXIS, FORCE, CONTACT, COM, TRAIL = (214, 39, 40), (255, 127, 14), (44, 160, 44), (148, 103, 189), (31, 119, 180)
MARKS = (  # in the order of their switches; the last two are of runs
    "translucent", "frames", "link names", "frame names", "joint axes", "centre of mass", "forces",
    "contact forces", "trails",
)  # fmt: skip
THICK, THIN = 0.012, 0.004  # of what is seen: the radii of an arrow and of a trail in a film
SHEER = 0.9  # the opacity of trails in a film, so that they throw no shadows
