"""The tables about all datasets together."""

from joints.runtime import job

job.begin(snakemake)

from pathlib import Path

from joints.render.summary import view_tables
from joints.render.tables import to_html, to_latex
from joints.runtime.files import read_csv, write_csv, write_text
from joints.study.summarise import at, in_file_order, table1

frames = {name: read_csv(path) for name, path in snakemake.input.items()}
params, output, view = snakemake.params, snakemake.output, snakemake.params.view
methods = in_file_order([entry for entry in params.methods if entry.in_table1], frames["paper"].columns)
cells = at(frames["means"], **view.keys, rate=params.rate)
frames["table1"] = table1(cells, frames["datasets"], methods, view.metric)
write_csv(output.csv, frames["table1"])
found = view_tables(frames, params.methods, params.reference, view, params.rate)
for html, tex in zip(output.html, output.tex, strict=True):
    write_text(html, to_html([found[Path(html).stem][0]], *found[Path(html).stem][1:]))
    write_text(tex, to_latex([found[Path(tex).stem][0]]))
