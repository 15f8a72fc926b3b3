# Statements of the paper that need no data: simulations -> table and figure.


rule simulate_theory:
    output:
        table=FILES.results / "theory.csv",
    log:
        FILES.logs / "theory" / "simulate.log",
    group:
        batch(PLAN.batches.scores("simulate_theory"))
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        mem_mb=growing(2000),
        runtime=minutes(PLAN.theory_minutes),
    params:
        settings=PLAN.theory,
        code=code("simulate_theory"),
    script:
        "../scripts/simulate_theory.py"


rule draw_theory:
    input:
        table=FILES.results / "theory.csv",
    output:
        figure=report(
            FILES.figures / "theory.png",
            caption="../report/theory.rst",
            category=PLAN.section("Theory"),
            labels={"what": "imputation and consistency"},
        ),
        others=[FILES.figures / "theory.pgf", FILES.figures / "theory.pdf"],
    log:
        FILES.logs / "theory" / "draw.log",
    group:
        batch(PLAN.batches.study)
    conda:
        "../../environment.yml"
    params:
        code=code("draw_theory"),
    script:
        "../scripts/draw_theory.py"
