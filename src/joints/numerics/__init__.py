"""What every numerical module stands on: compiling, threads, random numbers, sorting, and arrays that grow."""
