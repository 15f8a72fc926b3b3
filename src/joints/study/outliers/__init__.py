"""Outliers: does the log-density of a Generative Forest tell rows of its own kind from foreign ones (section 5)?

`studies` runs the paper's two experiments, on wine and on images; `detectors` are what is compared, `measures` say how
well each separates the two kinds of rows, and `images` turns tables of pixels into pictures of one size.
"""
