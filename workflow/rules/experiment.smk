# The second stage: arrays -> forests -> scores per model -> means per dataset.


rule grow_forests:
    input:
        dataset=FILES.dataset,
    output:
        forests=directory(FILES.forests),
        seconds=FILES.forest_seconds,
    log:
        FILES.logs / "forests" / "{dataset}" / "{repetitions}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=of(PLAN.memory, "dataset"),
    params:
        protocol=of(PLAN.fold_settings, "dataset"),
        repetitions=of(members, "repetitions"),
        forest=PLAN.config["forest"],
        code=code("grow_forests"),
    script:
        "../scripts/grow_forests.py"


rule score_method:
    input:
        dataset=FILES.dataset,
        forests=of(PLAN.shared_forests, "dataset", "mechanism", "repetitions"),
    output:
        scores=FILES.scores,
        seconds=FILES.seconds,
        confidence=FILES.confidence,
    log:
        FILES.logs
        / "scores"
        / "{dataset}"
        / "{model}"
        / "{mechanism}"
        / "{repetitions}.log",
    conda:
        "../../environment.yml"
    threads: of(PLAN.threads, "dataset", "model", "repetitions")
    resources:
        mem_mb=of(PLAN.memory, "dataset"),
    params:
        protocol=of(PLAN.score_settings, "dataset"),
        repetitions=of(members, "repetitions"),
        model=of(PLAN.model, "model"),
        mechanisms=of(PLAN.mechanism_group, "mechanism"),
        forest=of(PLAN.own_forest, "mechanism"),
        metrics=PLAN.metric_functions,
        code=model_code,
    script:
        "../scripts/score_method.py"


rule summarise_dataset:
    input:
        scores=of(PLAN.scores, "dataset"),
    output:
        means=FILES.means,
    log:
        FILES.logs / "means" / "{dataset}.log",
    conda:
        "../../environment.yml"
    params:
        methods=PLAN.used,
        metrics=PLAN.all_metrics,
        code=code("summarise_dataset"),
    script:
        "../scripts/summarise_dataset.py"
