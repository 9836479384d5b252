"""One step of a simulation, over scalars: what acts in it, how it is taken, and single steps with contacts.

Read step, inputs, contact_step. Many steps in one kernel are in sim, of which this package knows nothing.
"""
