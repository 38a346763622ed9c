# What models are tuned on and fitted to, and the jobs that share this work. This file has no rules.
from lindrop.ranking.grids import chunks, grid


def needed_gram(wildcards, file):
    """X'X, if the model is fitted from it; an empty list for a fit from X or from users × users."""
    entry, choice = CATALOGUE[wildcards.model], CHOICES.get(wildcards.dataset)
    from_users = entry.full_rank and choice is not None and choice["dual"]
    return file if entry.gram and not from_users else []


def needed_spectrum(wildcards, file):
    """Spectrum of X'X, if the model is fitted from it, else an empty list."""
    return file if CATALOGUE[wildcards.model].spectrum else []


def fitting_gram(wildcards):
    """X'X of the training users, from which the chosen point of a model is fitted."""
    return needed_gram(wildcards, GRAM)


def fitting_spectrum(wildcards):
    """Spectrum of the X'X of the training users."""
    return needed_spectrum(wildcards, SPECTRUM)


def tuning_gram(wildcards):
    """X'X that tuning fits to: of a weak split, without the interactions that judge it."""
    gram = GRAM_OF_TUNING if wildcards.dataset in WEAK else GRAM
    return needed_gram(wildcards, gram)


def tuning_spectrum(wildcards):
    """Spectrum of the X'X that tuning fits to."""
    spectrum = SPECTRUM_OF_TUNING if wildcards.dataset in WEAK else SPECTRUM
    return needed_spectrum(wildcards, spectrum)


def tuning_part(wildcards):
    """Part of the split that tuning fits to."""
    return "validation/fold_in" if wildcards.dataset in WEAK else "train"


def gram_shards(wildcards):
    """Files of the parts of X'X that are added up; none if one job computes all of it."""
    shards, dataset = config["gram_shards"], wildcards.dataset
    parts = range(shards if shards > 1 else 0)
    return collect(GRAM_SHARD, dataset=dataset, shard=parts, shards=shards)


def model_shards(wildcards):
    """Files of the parts of a model that are joined; none if one job fits all of it."""
    shards = config["model_shards"] if CATALOGUE[wildcards.model].columns else 1
    parts = range(shards if shards > 1 else 0)
    return collect(MODEL_SHARD, **wildcards, shard=parts, shards=shards)


def deep_options(model):
    """Configured options of a deep model, and its number of threads."""
    return config["models"].get(model, {}) | {"threads": DEEP_THREADS}


def points_per_job(dataset, model):
    """Points of a grid in one tuning job; one for deep models, each with its own checkpoint.

    A search takes all points, as each fit decides which point is next.
    """
    if model in DEEP:
        return 1
    how = tuned(dataset, model)
    if how["tuning"] == "search":
        return max(1, len(grid(how["options"])))
    return config["points_per_job"]


def points_of(wildcards):
    """Range of the grid's points that a tuning job takes."""
    dataset, model = wildcards.dataset, wildcards.model
    n_points = len(grid(tuned(dataset, model)["options"]))
    return chunks(n_points, points_per_job(dataset, model))[int(wildcards.chunk)]


def tuning_chunks(wildcards):
    """Results of the tuning jobs of a model; none if its grid has a single point."""
    dataset, model = wildcards.dataset, wildcards.model
    n_points = len(grid(tuned(dataset, model)["options"]))
    n_chunks = len(chunks(n_points, points_per_job(dataset, model)))
    jobs = range(n_chunks if n_points > 1 else 0)
    return collect(TUNING, **wildcards, chunk=jobs)
