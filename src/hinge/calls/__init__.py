"""From a call to a kernel: what is asked, for which model, with what; and controllers and poses as kernels.

Read request, then target, inputs.
"""
