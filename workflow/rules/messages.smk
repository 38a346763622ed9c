# What a run says at its end, and the damaged results that it deletes. This file has no rules.
from snakemake.logging import logger

from lindrop.base.error_file import damaged_of_run, errors_of_run
from lindrop.claims.summary import last_words


def repeat_errors():
    """Repeat the errors of this run's jobs at its end, where a user looks for them.

    Snakemake's own logger prints them after everything it says about the same failures.
    """
    for log, message in errors_of_run().items():
        logger.error(f"lindrop: error: {message} (log: {log})")


def delete_damaged():
    """Delete the results that jobs of this run found damaged, so that the next run makes them anew.

    At the end of the run, as a job that starts now could not say what became of its input.
    """
    for file in damaged_of_run():
        if Path(RESULTS).resolve() in file.resolve().parents and file.is_file():
            file.unlink()
            logger.error(f"lindrop: {file} was damaged and is deleted: run again")


def tell_results():
    """Print where the pages are at the end of a run, and the number of claims that hold.

    `make` says this itself, as Snakemake calls no handler where nothing was to be done.
    """
    made = {job.rule.name for job in workflow.dag.finished_jobs}
    for page in PAGES if "MAKELEVEL" not in os.environ else []:
        if f"{page}_page" in made:
            whole = page == "index"
            place = real(PAGE, page=page)
            print(last_words(Path(RESULTS)) if whole else place, file=sys.stderr)
    if "compare_page" in made:
        tell_winners()
