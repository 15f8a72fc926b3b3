# The first stage: catalogue entry -> raw table -> arrays, and the table of all datasets.


# Downloads run where the workflow is started, since the nodes of a cluster often have no network access.
localrules:
    fetch_dataset,


rule fetch_dataset:
    input:
        of(PLAN.own_files, "dataset"),
    output:
        table=FILES.raw,
        record=FILES.record,
    log:
        FILES.logs / "fetch" / "{dataset}.log",
    conda:
        "../../environment.yml"
    params:
        sources=of(PLAN.sources, "dataset"),
        columns=of(PLAN.columns, "dataset"),
        code=code("fetch_dataset"),
    script:
        "../scripts/fetch_dataset.py"


rule encode_dataset:
    input:
        tables=of(PLAN.raw_tables, "dataset"),
    output:
        dataset=FILES.dataset,
    log:
        FILES.logs / "encode" / "{dataset}.log",
    group:
        batch(PLAN.batches.encoding, "dataset")
    conda:
        "../../environment.yml"
    params:
        entry=of(PLAN.encoding, "dataset"),
        code=code("encode_dataset"),
    script:
        "../scripts/encode_dataset.py"


rule describe_datasets:
    input:
        datasets=PLAN.encoded,
        records=PLAN.records,
    output:
        csv=FILES.results / "datasets.csv",
        tex=FILES.results / "datasets.tex",
        html=report(
            FILES.results / "tables" / "datasets.html",
            caption="../report/datasets.rst",
            category=PLAN.section("Provenance"),
            labels={"what": "the datasets"},
        ),
    log:
        FILES.logs / "describe_datasets.log",
    group:
        batch(PLAN.batches.study)
    conda:
        "../../environment.yml"
    params:
        entries=PLAN.encodings,
        code=code("describe_datasets"),
    script:
        "../scripts/describe_datasets.py"
