# Files of figures and tables, and which of them each page shows. This file has no rules.
from lindrop.claims.check_files import read_made_from


def media_files(path, name, category, labels, ends):
    """Files of a figure or a table by file ending; the first one is shown on the pages."""
    files = {end: path.format(name=name, end=end) for end in ends}
    shown = {"caption": f"../report/{name}.rst", "category": category, "labels": labels}
    return files | {ends[0]: report(files[ends[0]], **shown)}


def figure_files(name, category, **labels):
    """Files of a figure: png for the pages, pdf for printing, csv with its data."""
    return media_files(FIGURE, name, category, labels, ("png", "pdf", "csv"))


def table_files(name, category, **labels):
    """Files of a table: html, csv, Markdown and LaTeX."""
    return media_files(TABLE, name, category, labels, ("html", "csv", "md", "tex"))


def checks_of(papers):
    """Files of checks of these papers, without those that only `make deep` makes."""
    files = [str(file) for paper in papers for file in PAPER_RESULTS[paper]]
    return [file for file in files if file.endswith(".json")]


def deep_metrics():
    """Metrics that `make deep` made, with fingerprints by which Table 1 leaves out outdated ones.

    They are parameters, not inputs: the default run neither needs PyTorch nor trains for hours.
    """
    return {
        file: {
            "state": lineage("fit_deep", dataset=name, model=model),
            "file": file_state(file),
        }
        for name in DATASETS
        for model in DEEP
        if Path(file := real(METRICS, dataset=name, model=model)).exists()
    }


def deep_results(end):
    """Files with this ending that `make deep` made, or a target such as `attribution`.

    They are parameters, not inputs: the default run neither needs PyTorch nor trains for hours. Those
    made from other data, by other settings or by other code are left out.
    """
    found = []
    for files, made_from in OPTIONAL_RESULTS:
        files = [real(file) for file in files]
        (checks,) = (file for file in files if file.endswith(".json"))
        if read_made_from(checks) == made_from:
            found += [file for file in files if file.endswith(end)]
    return [file for file in found if Path(file).exists()]


def on_page(page, file):
    """Whether a page shows a figure or a table."""
    name = Path(file).stem
    if page == "compare":
        return name in COMPARED
    if name in ("compare", "compare_costs", "compare_groups", "datasets"):
        return False
    return page == "index" or name.startswith(f"{page}_")


def reported():
    """Figures and tables of the report by file, with their labels, in the order of the rules."""
    return {
        file: ": ".join(file.flags["report"].labels.values())
        for own in vars(rules)["_rules"].values()
        for file in own.rule.output
        if "report" in file.flags
    }
