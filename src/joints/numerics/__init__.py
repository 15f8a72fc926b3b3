"""What every numerical module stands on: compiling, threads, and random numbers."""
