from pathlib import Path

from lindrop.base.errors import UserError
from lindrop.base.reporting import job
from lindrop.papers.pal2020.deep import HIDDEN, SCHEME, deep_table, shown_name, targets
from lindrop.store.curves import write_curves
from lindrop.store.images import read_images

name, params = snakemake.wildcards.images, snakemake.params
output = Path(snakemake.output[0])
checkpoint = output.with_suffix(".checkpoint")  # Snakemake knows nothing of it: it stays

with job(snakemake.log[0], f"images {name}"):
    try:
        from lindrop.dropout.deep.resnet import inputs_of, resnet50
        from lindrop.dropout.deep.training import Settings, train
    except ModuleNotFoundError as error:
        raise UserError("PyTorch is not installed: run `make deep`") from error
    images, labels, files = read_images(snakemake.input[0], params.n_images)
    y = targets(labels)
    settings = Settings(**params.settings, seed=params.seed)
    source = {"images": name, "count": params.n_images, "files": files, "code": params.code}
    g = resnet50(HIDDEN, params.seed)
    trained = train(g, inputs_of(images), y, SCHEME, settings, checkpoint, source)
    write_curves(
        output, deep_table(shown_name(name, files), trained.losses, trained.predictions, y)
    )
    checkpoint.unlink(missing_ok=True)
