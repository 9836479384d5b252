"""Programs on paper: source text, C files, equations and their symbols."""
