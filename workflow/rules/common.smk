# Functions that the rules share. No rule stands here.
import sys

from lindrop.config import checked, download_name, load_schema
from lindrop.digest import imports_digest
from lindrop.errors import UserError

WORKFLOW = Path(workflow.basedir).resolve()
if WORKFLOW.name != "workflow":  # entered through the Snakefile at the top
    WORKFLOW = WORKFLOW / "workflow"

try:
    config = checked(config, load_schema(WORKFLOW / "schemas" / "config.schema.yaml"))
except UserError as error:
    sys.exit(f"lindrop: error: {error}")


DATASETS = config["datasets"]
SYNTHETIC = [
    name for name, entry in DATASETS.items() if entry["source"]["format"] == "synthetic"
]
FROM_FILES = [name for name in DATASETS if name not in SYNTHETIC]
DOWNLOADS = {
    download_name(DATASETS[name]["source"]["url"]): DATASETS[name]["source"]
    for name in FROM_FILES
    if DATASETS[name]["source"]["url"]
}

# Heavy rules take every core: locally, two of them never run (and fill the memory) at once.
HEAVY = workflow.resource_settings.cores or 8


def code(script):
    """Hash of the library modules behind a script: their change reruns the rule."""
    return imports_digest(WORKFLOW / "scripts" / script, WORKFLOW)


def one_of(names):
    """Regular expression of exactly these names (of nothing if there are none)."""
    return "|".join(map(re.escape, names)) or "(?!)"


def source(key):
    """A value of a dataset's source, as a function of the wildcards."""
    return lambda wildcards: DATASETS[wildcards.dataset]["source"].get(key)


def protocol(key):
    """A value of a dataset's protocol, as a function of the wildcards."""
    return lambda wildcards: DATASETS[wildcards.dataset]["protocol"][key]


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


def text_mb(wildcards, input):
    """Size of a dataset's text: archives hold about four times what they weigh."""
    packed = Path(input.file).suffix in (".zip", ".gz", ".tgz")
    return input.size_mb * (4 if packed else 1)
