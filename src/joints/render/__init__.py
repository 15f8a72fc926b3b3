"""Tables and figures of the paper: from numbers to LaTeX, HTML, Markdown and images."""
