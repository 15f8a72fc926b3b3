"""Outliers: does the log-density of a Generative Forest separate rows of its own kind from foreign ones (section 5)?

`studies` runs the paper's two experiments, on wine and on images; `detectors` has the methods to compare, `measures`
quantify how well each separates the two kinds of rows, and `images` turns tables of pixels into images of one size.
"""
