"""Who does the arithmetic: the plain interpreter, the counter, LLVM."""
