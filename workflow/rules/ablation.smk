# The ablation: the study's methods with other settings on some of its datasets, beside the study's own scores.


rule score_variant:
    input:
        dataset=RESULTS / "data" / "{dataset}.npz",
    output:
        scores=RESULTS / "ablation" / "{dataset}" / "{variant}.csv",
    log:
        LOGS / "ablation" / "{dataset}" / "{variant}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory,
    params:
        protocol=variant_protocol,
        repetitions=variant_repetitions(),
        forest=variant_forest,
        models=variant_models,
        code=variant_code,
    script:
        "../scripts/score_variant.py"


rule summarise_ablation:
    input:
        variants=variant_scores,
        published=published_scores,
    output:
        table=RESULTS / "ablation.csv",
        html=report(
            RESULTS / "tables" / "ablation.html",
            caption="../report/ablation.rst",
            category="6 Ablation",
            labels={"what": "differences from the published settings"},
        ),
        tex=RESULTS / "tables" / "ablation.tex",
    log:
        LOGS / "ablation" / "summarise.log",
    conda:
        "../../environment.yml"
    params:
        variants=variant_labels(),
        methods=method_labels(),
        datasets=variant_datasets(),
        code=code_digest("joints.study.ablation.differences", "joints.render.ablation_table"),
    script:
        "../scripts/summarise_ablation.py"
