# The ablation: the study's methods with other settings on some of its datasets, compared with the study's own scores.


rule score_variant:
    input:
        dataset=FILES.dataset,
    output:
        scores=FILES.variant,
    log:
        FILES.logs / "ablation" / "{dataset}" / "{variant}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=of(PLAN.memory, "dataset"),
    params:
        protocol=of(PLAN.variant_protocol, "dataset"),
        repetitions=PLAN.variant_repetitions,
        forest=of(PLAN.variant_forest, "variant"),
        models=of(PLAN.variant_models, "variant"),
        mechanism=PLAN.mechanism(PLAN.variant_mechanism),
        metrics=PLAN.metric_functions,
        code=variant_code,
    script:
        "../scripts/score_variant.py"


rule summarise_ablation:
    input:
        variants=PLAN.variant_scores,
        compared=PLAN.compared_scores,
    output:
        table=FILES.results / "ablation.csv",
        html=report(
            FILES.results / "tables" / "ablation.html",
            caption="../report/ablation.rst",
            category=PLAN.section("Ablation"),
            labels={"what": "differences from the published settings"},
        ),
        tex=FILES.results / "tables" / "ablation.tex",
    log:
        FILES.logs / "ablation" / "summarise.log",
    conda:
        "../../environment.yml"
    params:
        variants=PLAN.variants,
        labels=PLAN.variant_labels,
        methods=PLAN.compared_methods,
        protocols=PLAN.score_protocols(*PLAN.variant_datasets),
        variant_protocols=PLAN.variant_protocols,
        repetitions=PLAN.variant_repetitions,
        datasets=PLAN.variant_datasets,
        metrics=PLAN.all_metrics,
        view=PLAN.views[0],
        code=code("summarise_ablation"),
    script:
        "../scripts/summarise_ablation.py"
