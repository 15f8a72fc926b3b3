# The second stage: arrays -> forests -> scores of every method.


rule grow_forests:
    input:
        dataset=RESULTS / "data" / "{dataset}.npz",
    output:
        forests=directory(RESULTS / "forests" / "{dataset}" / "{repetitions}"),
    log:
        LOGS / "forests" / "{dataset}" / "{repetitions}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory,
    params:
        protocol=fold_settings,
        repetitions=repetition_list,
        forest=config["forest"],
        code=code_digest("joints.study.forests"),
    script:
        "../scripts/grow_forests.py"


rule score_method:
    input:
        dataset=RESULTS / "data" / "{dataset}.npz",
        forests=forests_of,
    output:
        scores=RESULTS / "scores" / "{dataset}" / "{model}" / "{repetitions}.csv",
        seconds=RESULTS / "seconds" / "{dataset}" / "{model}" / "{repetitions}.csv",
    log:
        LOGS / "scores" / "{dataset}" / "{model}" / "{repetitions}.log",
    conda:
        "../../environment.yml"
    threads: score_threads
    resources:
        mem_mb=memory,
    params:
        protocol=protocol_settings,
        repetitions=repetition_list,
        method=model_settings,
        code=model_code,
    script:
        "../scripts/score_method.py"


rule summarise_dataset:
    input:
        scores=scores_of,
    output:
        means=RESULTS / "means" / "{dataset}.csv",
        ci=RESULTS / "ci" / "{dataset}.csv",
    log:
        LOGS / "means" / "{dataset}.log",
    conda:
        "../../environment.yml"
    params:
        methods=config["methods"],
        columns=paper_columns(),
        code=code_digest("joints.study.summarise"),
    script:
        "../scripts/summarise_dataset.py"
