# Functions that the rules share. No rule stands here.
import sys

from lindrop.config import (
    checked,
    download_name,
    downloads,
    duplicate_keys,
    load_schema,
)
from lindrop.data.fetch import files_below
from lindrop.data.synthetic.recipe import PRESETS
from lindrop.digest import imports_digest
from lindrop.errors import UserError

WORKFLOW = Path(str(workflow.current_basedir)).resolve().parent

try:
    for file in workflow.configfiles:
        duplicate_keys(Path(file).read_text(encoding="utf-8"), str(file))
    # in place: scripts see the same configuration, defaults included
    config.update(
        checked(config, load_schema(WORKFLOW / "schemas" / "config.schema.yaml"))
    )
except UserError as error:
    sys.exit(f"lindrop: error: {error}")


DATASETS = config["datasets"]
SYNTHETIC = [
    name for name, entry in DATASETS.items() if entry["source"]["format"] == "synthetic"
]
FROM_FILES = [name for name in DATASETS if name not in SYNTHETIC]
DOWNLOADS = downloads(config)

# Heavy rules take every core: locally, two of them never run (and fill the memory) at once.
HEAVY = workflow.resource_settings.cores or 8


def code(script):
    """Hash of the library modules behind a script: their change reruns the rule."""
    return imports_digest(WORKFLOW / "scripts" / script, WORKFLOW)


def one_of(names):
    """Regular expression of exactly these names (of nothing if there are none)."""
    return "|".join(map(re.escape, names)) or "(?!)"


def source(*keys):
    """Some of a dataset's source, by name, as a function of the wildcards.

    Names are part of the parameter: Snakemake compares the set of values, and two keys that swap
    their values would look unchanged.
    """
    return lambda wildcards: {
        key: DATASETS[wildcards.dataset]["source"][key]
        for key in keys
        if key in DATASETS[wildcards.dataset]["source"]
    }


def protocol(wildcards):
    """A dataset's protocol, by name."""
    return DATASETS[wildcards.dataset]["protocol"]


def source_file(wildcards):
    """The dataset's file: `path`, else found in `data_dir`, else to be downloaded."""
    entry = DATASETS[wildcards.dataset]["source"]
    if entry["path"] is not None:
        return entry["path"]
    file = download_name(entry["url"])
    if config["data_dir"] is not None:
        folder = Path(config["data_dir"])
        for local in (folder / file, folder / wildcards.dataset / file):
            if local.is_file():
                return str(local)
    return f"<results>/downloads/{file}"


def folder_state(wildcards):
    """What tells that a folder's files changed; Snakemake looks at the folder itself only."""
    folder = Path(DATASETS[wildcards.dataset]["source"]["path"] or "")
    if folder == Path() or not folder.is_dir():
        return ""
    return [
        (file.name, file.stat().st_size, file.stat().st_mtime_ns)
        for file in files_below(folder)
    ]


def text_mb(path):
    """Size of the text in a file or folder: archives hold about four times what they weigh."""
    packed = {".zip": 4, ".gz": 4, ".tgz": 4, ".parquet": 12}
    return sum(
        file.stat().st_size * packed.get(file.suffix.lower(), 1) / 1e6
        for file in files_below(Path(path))
    )


def generated_rows(wildcards):
    """Interactions that the generator is asked for."""
    asked = DATASETS[wildcards.dataset]["source"]
    return asked["interactions"] or PRESETS[asked["preset"]].interactions
