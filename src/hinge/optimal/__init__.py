"""What is best: regulators, trajectories and controllers that cost least, by derivatives that are exact or by samples."""
