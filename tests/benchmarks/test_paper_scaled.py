"""The smaller run of config/paper.yaml has the paper's grids, and facts of the generated files."""

import hashlib

import paper_scaled
import pytest
import yaml
from snakemake.utils import update_config

from lindrop.configuration.config import checked
from lindrop.configuration.schema import load_schema

NAMES = {"ml-20m": "ml-20m.zip", "netflix": "nf_prize_dataset.tar.gz"}


@pytest.mark.parametrize("share", [10, 20])
def test_sizes_are_divided_and_grids_are_those_of_the_paper(share, tmp_path):
    files = {name: tmp_path / file for name, file in NAMES.items()}
    for file in files.values():
        file.write_bytes(file.name.encode())
    paper = yaml.safe_load(paper_scaled.PAPER.read_text(encoding="utf-8"))
    smaller = yaml.safe_load(paper_scaled.PAPER.read_text(encoding="utf-8"))
    update_config(smaller, yaml.safe_load(yaml.safe_dump(paper_scaled.overlay(files, share))))
    found = checked(smaller, load_schema())
    assert (found["rank"], max(found["ranks"])) == (1000 // share, 2000 // share)
    for model, options in paper["models"].items():
        for key, values in options.items():
            if (model, key) != ("wmf", "factors"):
                assert found["models"][model][key] == values
    for name, file in files.items():
        source = found["datasets"][name]["source"]
        assert source["url"].endswith(file.name)
        assert source["bytes"] == len(file.read_bytes())
        assert source["md5"] == hashlib.md5(file.read_bytes()).hexdigest()
    assert found["datasets"]["ml-20m"]["protocol"]["heldout_users"] == 10_000 // share
    assert found["datasets"]["netflix"]["source"]["rows"] == 100_480_507
    assert found["data_dir"] == str(tmp_path)
