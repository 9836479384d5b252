"""From a call to a kernel: what is asked, for which model, with what; and controllers and poses as kernels.

Read views, evaluate, target and call; then backends/kernel. For arrays of other libraries: libraries, operands, and the
module of that library.
"""
