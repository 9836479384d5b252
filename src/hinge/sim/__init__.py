"""Simulation: robots moved on in time, and what came out kept."""
