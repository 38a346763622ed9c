# Paths of all results. Every path under <results> is written here and nowhere else.
DOWNLOAD = "<results>/downloads/{file}"
SOURCE = "<results>/data/{dataset}/source.json"
INTERACTIONS = "<results>/data/{dataset}/interactions.h5"
SPLIT = "<results>/data/{dataset}/split.h5"
PUBLISHED_CSV = "<results>/data/{dataset}/csv"
IMAGES = "<results>/data/images/{images}.h5"
GRAM = "<results>/gram/{dataset}.h5"
GRAM_SHARD = "<results>/gram/{dataset}.{shard}-of-{shards}.h5"
SPECTRUM = "<results>/gram/{dataset}.spectrum.h5"
GRAM_OF_TUNING = "<results>/gram/{dataset}.tuning.h5"
SPECTRUM_OF_TUNING = "<results>/gram/{dataset}.tuning-spectrum.h5"
TUNING = "<results>/tuning/{dataset}/{model}/{chunk}.csv"
MODEL = "<results>/models/{dataset}/{model}.h5"
MODEL_SHARD = "<results>/models/{dataset}/{model}.{shard}-of-{shards}.h5"
METRICS = "<results>/metrics/{dataset}/{model}.h5"
RECOMMENDATIONS = "<results>/recommendations/{dataset}/{model}.parquet"
FIGURE = "<results>/figures/{name}.{end}"
TABLE = "<results>/tables/{name}.{end}"
SO_FAR_TABLE = "<results>/tables/compare_so_far/{dataset}.{stage}.md"
CHECKS = "<results>/experiments/{paper}/{job}.json"
ATTRIBUTION = "<results>/experiments/steck2020/attribution/{dataset}/{part}.csv"
EMPHASIS = "<results>/experiments/steck2020/emphasis/{dataset}/{part}.csv"
CURVES_AS_PUBLISHED = "<results>/experiments/steck2020/curves/{dataset}.csv"
CONVERGENCE = "<results>/experiments/mianjy2018/convergence.csv"
DEEP_DROPOUT = "<results>/experiments/pal2020/deep/{images}.csv"
IMAGE_SET = "<results>/experiments/pretorius2018/images/{images}.h5"
NETWORK = "<results>/experiments/pretorius2018/networks/{images}/{activation}/{kind}.h5"
SCORECARD = "<results>/scorecard.{end}"
PAGE = "<results>/report/{page}.html"


def real(path, **names):
    """Path on this machine, with its wildcards filled in."""
    modified = workflow.modifier.modify_path(str(path))
    return workflow.pathvars.apply(modified).format(**names)


def check_folders(datasets):
    """End with one line where a file stands in the place of a folder that results belong in."""
    paths = [
        DOWNLOAD,
        GRAM,
        TUNING,
        MODEL,
        METRICS,
        FIGURE,
        TABLE,
        CHECKS,
        IMAGE_SET,
        PAGE,
    ]
    paths = [path.partition("{")[0] + "x" for path in paths]
    paths += [SOURCE.format(dataset=name) for name in datasets]
    for folder in {
        folder: None for path in paths for folder in Path(real(path)).parents
    }:
        if folder.exists() and not folder.is_dir():
            sys.exit(
                f"lindrop: error: {folder}: a file where a folder of results belongs; move it away"
            )
