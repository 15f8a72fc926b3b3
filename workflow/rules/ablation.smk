# The ablation: the study's methods with other settings on some of its datasets, compared with the study's own scores.


# A rule per dataset.  One more variant does not recompute the others, because finished ones are kept.
for dataset, variants in PLAN.variants_by_dataset.items():

    rule:
        name:
            f"score_variants_{dataset}"
        input:
            dataset=fill(FILES.dataset, dataset=dataset),
        output:
            scores=expand(FILES.variant, dataset=dataset, variant=variants),
        log:
            FILES.logs / "ablation" / f"{dataset}.log",
        priority: int(PLAN.costs.variants(dataset))
        group:
            batch(PLAN.batches.scores(f"score_variants_{dataset}"))
        conda:
            "../../environment.yml"
        resources:
            mem_mb=growing(PLAN.memory(dataset)),
            runtime=minutes(PLAN.minutes(PLAN.costs.variants(dataset))),
        params:
            protocol=PLAN.variant_protocol(dataset),
            repetitions=PLAN.variant_repetitions,
            variants=variants_and_code(variants),
            mechanism=PLAN.mechanism(PLAN.variant_mechanism),
            metrics=PLAN.metric_functions,
        script:
            "../scripts/score_variants.py"


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
    group:
        batch(PLAN.batches.study)
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
