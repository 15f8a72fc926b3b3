# The first stage: catalogue row -> raw table -> arrays, and the table of all datasets.


# Downloads happen where the workflow is started, since the nodes of a cluster often cannot reach the network.
localrules:
    fetch_dataset,


rule fetch_dataset:
    input:
        own_files,
    output:
        table=RESULTS / "raw" / "{dataset}.parquet",
        record=RESULTS / "raw" / "{dataset}.json",
    log:
        LOGS / "fetch" / "{dataset}.log",
    conda:
        "../../environment.yml"
    params:
        sources=sources_of,
        columns=columns_of,
        # Only what decides about the table: neither servers nor patience make a table stale that is here.
        code=code_digest("joints.data.raw"),
    script:
        "../scripts/fetch_dataset.py"


rule encode_dataset:
    input:
        tables=raw_tables,
    output:
        dataset=RESULTS / "data" / "{dataset}.npz",
    log:
        LOGS / "encode" / "{dataset}.log",
    conda:
        "../../environment.yml"
    params:
        entry=encoding_of,
        code=code_digest("joints.data.encode"),
    script:
        "../scripts/encode_dataset.py"


rule describe_datasets:
    input:
        datasets=expand(RESULTS / "data" / "{dataset}.npz", dataset=DATASETS),
        records=all_records,
    output:
        csv=RESULTS / "datasets.csv",
        tex=RESULTS / "datasets.tex",
    log:
        LOGS / "describe_datasets.log",
    conda:
        "../../environment.yml"
    params:
        entries=description_of,
        code=code_digest("joints.data.details"),
    script:
        "../scripts/describe_datasets.py"
