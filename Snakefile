# `snakemake --cores 8` starts here; the workflow itself is in workflow/.
include: "workflow/Snakefile"


workflow.default_target = "all"
