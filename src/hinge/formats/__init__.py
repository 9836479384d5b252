"""How robots are written: one reader (and later one writer) a file format."""
