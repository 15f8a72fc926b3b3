"""Tables and figures of the paper: numbers in, LaTeX, HTML and pictures out."""
