# The files of the datasets: on this machine, or where they are downloaded to. This file has no rules.
from lindrop.configuration.config import OTHER_FILES, download_name


def source(*keys):
    """Function of the wildcards that returns some keys of a dataset's source.

    Names are part of the parameter: Snakemake compares the set of values, and two keys that swap
    their values would look unchanged.
    """
    return lambda wildcards: {
        key: DATASETS[wildcards.dataset]["source"][key]
        for key in keys
        if key in DATASETS[wildcards.dataset]["source"]
    }


def protocol(wildcards):
    """Protocol of a dataset, as configured."""
    return DATASETS[wildcards.dataset]["protocol"]


def layout(wildcards):
    """Format of a dataset's files and its columns, with the times where its split needs them."""
    found = source("format", "user", "item", "rating")(wildcards)
    if protocol(wildcards)["split"] in ("time", "leave_last"):
        of_format = "timestamp" if found["format"] == "movielens" else None
        entry = DATASETS[wildcards.dataset]["source"]
        found["time"] = entry.get("time", of_format)
    return found


def local_copy(entry, name):
    """File on this machine: `path`, or one found in `data_dir` or its folder `name`; else None.

    It is flagged as local, so that no prefix of a module goes before it.
    """
    if entry["path"] is not None:
        return local(entry["path"])
    if config["data_dir"] is not None:
        downloaded = download_name(entry["url"])
        folder = Path(config["data_dir"])
        for file in (downloaded, f"{name}/{downloaded}"):
            for copy in (folder / file, folder / f"{file}.gz"):
                if copy.is_file():
                    return local(str(copy))
    return None


def copied_name(entry):
    """Name under which `data_dir` is searched for a file; None for a file with a path."""
    return None if entry["path"] is not None else download_name(entry["url"])


def is_packed(entry, name):
    """Whether the local copy of a file is gzipped, while its download is not."""
    copy = local_copy(entry, name)
    return copy is not None and Path(copy).name == f"{copied_name(entry)}.gz"


def local_file(name):
    """File of a dataset on this machine, or None."""
    return local_copy(DATASETS[name]["source"], name)


def download(entry):
    """Place of a downloaded file."""
    return DOWNLOAD.format(file=download_name(entry["url"]))


def source_file(wildcards):
    """File of a dataset: on this machine if it is there, else the place of its download."""
    return local_file(wildcards.dataset) or download(
        DATASETS[wildcards.dataset]["source"]
    )


def source_url(wildcards):
    """File that notes the URL of a download; an empty list for a file on this machine."""
    return [] if local_file(wildcards.dataset) else f"{source_file(wildcards)}.url"


def other_entries(dataset):
    """Entries of the files of a dataset beside its training file, by part."""
    source = DATASETS[dataset]["source"]
    return {part: source[part] for part in OTHER_FILES if source.get(part) is not None}


def other_files(wildcards):
    """Files of a dataset beside its training file, by part."""
    return {
        part: local_copy(entry, wildcards.dataset) or download(entry)
        for part, entry in other_entries(wildcards.dataset).items()
    }


def other_urls(wildcards):
    """Notes of the URLs of those that are downloaded, by part."""
    return {
        f"{part}_url": f"{download(entry)}.url"
        for part, entry in other_entries(wildcards.dataset).items()
        if not local_copy(entry, wildcards.dataset)
    }


def packed_files(wildcards):
    """Files of a dataset, by name of the rule's input, that are gzipped copies of a download."""
    name = wildcards.dataset
    entries = {"file": DATASETS[name]["source"], **other_entries(name)}
    return [part for part, entry in entries.items() if is_packed(entry, name)]


def expected_of_others(wildcards):
    """Size and checksums of these files, by part."""
    return {
        part: {fact: entry[fact] for fact in ("bytes", "sha256", "md5")}
        for part, entry in other_entries(wildcards.dataset).items()
    }


def image_files(wildcards):
    """Files of an image set by part, with the note of its URL for each one that is downloaded."""
    files = {}
    for part, entry in config["images"][wildcards.images].items():
        copy = local_copy(entry, wildcards.images)
        files[part] = copy or download(entry)
        if not copy:
            files[f"{part}_url"] = f"{download(entry)}.url"
    return files


def check_columns():
    """End with one line where a file on this machine lacks a column, before any job starts."""
    from lindrop.data.headers import check_headers  # slow, and not needed by jobs

    for name in FROM_FILES:
        entry = DATASETS[name]
        others = [local_copy(other, name) for other in other_entries(name).values()]
        for file in filter(None, [local_file(name), *others]):
            try:
                check_headers(
                    Path(file), entry["source"], entry["protocol"]["min_rating"]
                )
            except UserError as error:
                sys.exit(f"lindrop: error: dataset {name}: {error}")


if workflow.is_main_process:
    check_columns()
