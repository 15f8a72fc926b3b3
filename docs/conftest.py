"""Examples in the pages are tests; Python files here are run when the site is built."""

collect_ignore_glob = ["*.py"]
