# The second stage: arrays -> forests -> scores per model -> means per dataset.


rule grow_forests:
    input:
        dataset=FILES.dataset,
    output:
        forests=directory(FILES.forests),
        seconds=FILES.forest_seconds,
    log:
        FILES.logs / "forests" / "{dataset}" / "{repetitions}.log",
    # everything else waits for them
    priority: 1000000
    group:
        batch(PLAN.batches.forests, "dataset", "repetitions")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=growing(PLAN.memory, "dataset"),
        runtime=minutes(PLAN.forest_minutes, "dataset", "repetitions"),
    params:
        protocol=of(PLAN.fold_settings, "dataset"),
        repetitions=of(members, "repetitions"),
        forest=PLAN.config["forest"],
        code=code("grow_forests"),
    script:
        "../scripts/grow_forests.py"


# A rule per job: a model that takes long, or several others together, long jobs first.  One more model in a job does not
# recompute the others, because finished parts are kept.
for job in PLAN.score_jobs:

    rule:
        name:
            job.name
        input:
            dataset=fill(FILES.dataset, dataset=job.dataset),
            forests=PLAN.forests_of(job),
        output:
            scores=PLAN.files_of(FILES.scores, job),
            seconds=PLAN.files_of(FILES.seconds, job),
            confidence=PLAN.files_of(FILES.confidence, job),
        log:
            FILES.logs / "scores" / job.dataset / f"{job.name}.log",
        priority: int(job.seconds)
        group:
            batch(PLAN.batches.scores(job.name))
        conda:
            "../../environment.yml"
        threads: job.threads
        resources:
            mem_mb=growing(PLAN.memory(job.dataset)),
            runtime=minutes(PLAN.minutes(job.seconds)),
        params:
            protocol=PLAN.score_settings(job.dataset),
            models=models_and_code(job),
            mechanisms=PLAN.mechanism_group(job.mechanism),
            forest=PLAN.own_forest(job.mechanism),
            metrics=PLAN.metric_functions,
        script:
            "../scripts/score_models.py"


rule summarise_dataset:
    input:
        scores=of(PLAN.scores, "dataset"),
    output:
        means=FILES.means,
    log:
        FILES.logs / "means" / "{dataset}.log",
    group:
        batch(PLAN.batches.tables, "dataset")
    conda:
        "../../environment.yml"
    params:
        methods=PLAN.used,
        protocols=of(PLAN.score_protocols, "dataset"),
        metrics=PLAN.all_metrics,
        code=code("summarise_dataset"),
    script:
        "../scripts/summarise_dataset.py"
