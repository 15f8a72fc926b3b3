"""The studies of the paper: what is planned, how it is run, and what comes out as numbers."""
