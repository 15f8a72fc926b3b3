# The modern study: what config/modern.yaml asks beyond the paper.  Any run can make these with the target `modern`.


rule compare_pairs:
    input:
        scores=PLAN.all_scores,
    output:
        pairs=PLAN.modern_tables["pairs"],
        gains=PLAN.modern_tables["gains_over_best"],
    log:
        FILES.logs / "compare_pairs.log",
    group:
        batch(PLAN.batches.study)
    conda:
        "../../environment.yml"
    params:
        methods=PLAN.used,
        protocols=PLAN.score_protocols(*PLAN.names),
        metrics=PLAN.all_metrics,
        code=code("compare_pairs"),
    script:
        "../scripts/compare_pairs.py"


rule summarise_costs:
    input:
        seconds=PLAN.all_seconds,
        forests=PLAN.all_forest_seconds,
        confidence=PLAN.all_confidences,
    output:
        costs=PLAN.modern_tables["costs"],
        reliability=PLAN.modern_tables["reliability"],
    log:
        FILES.logs / "summarise_costs.log",
    group:
        batch(PLAN.batches.study)
    conda:
        "../../environment.yml"
    params:
        methods=PLAN.used,
        classes=PLAN.model_classes,
        mechanism=PLAN.mechanism_names[0],
        code=code("summarise_costs"),
    script:
        "../scripts/summarise_costs.py"


rule draw_modern:
    input:
        means=FILES.results / "means.csv",
        gains=PLAN.modern_tables["gains_over_best"],
        costs=PLAN.modern_tables["costs"],
        reliability=PLAN.modern_tables["reliability"],
    output:
        PLAN.modern_figures,
    log:
        FILES.logs / "draw_modern.log",
    group:
        batch(PLAN.batches.study)
    conda:
        "../../environment.yml"
    params:
        methods=PLAN.shown,
        mechanisms=PLAN.used_mechanisms,
        datasets={name: PLAN.label(name) for name in PLAN.names},
        view=PLAN.views[0],
        rate=PLAN.config["table_rate"],
        code=code("draw_modern"),
    script:
        "../scripts/draw_modern.py"
