"""The studies of the paper: how they are planned and run, and the numbers that result."""
