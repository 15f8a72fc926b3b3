"""Our Table 1 beside the paper's: a table and a figure."""

from joints.runtime import job

job.begin(snakemake)

from joints.render.figures import agreement_figure
from joints.render.saving import save_all
from joints.render.summary import agreement_page, labels_of
from joints.render.tables import to_html, to_latex
from joints.runtime.files import read_csv, write_text

agreement, params, output = read_csv(snakemake.input.agreement), snakemake.params, snakemake.output
table, title, note = agreement_page(agreement, params.methods)
write_text(output.html, to_html([table], title, note))
write_text(output.tex, to_latex([table]))
figure = agreement_figure(agreement, labels_of(params.methods), params.rate)
save_all(figure, [output.figure, *output.others])
