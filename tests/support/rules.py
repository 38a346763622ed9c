"""The rules of the workflow as Snakemake reads them, those that a loop makes among them."""

import json
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from support.repository import REPOSITORY

# Snakemake changes folder and logging of the process in which it reads a workflow.
READ = """
import json, sys
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.types import OutputSettings, Quietness, ResourceSettings
from snakemake.workflow import Workflow

stated, rule = {}, Workflow.rule

def noted(self, name=None, *arguments, **options):
    made = rule(self, name, *arguments, **options)
    def decorate(ruleinfo):
        stated[ruleinfo.name or name] = ruleinfo.threads is not None
        return made(ruleinfo)
    return decorate

Workflow.rule = noted
with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
    workflow = api.workflow(ResourceSettings(cores=1), snakefile=Path(sys.argv[1]))._workflow
    found = [
        {
            "name": rule.name,
            "folder": str(rule.basedir),
            "conda": rule.conda_env,
            "script": rule.script,
            "modules": rule.params.get("modules") or [rule.params.get("module")],
            "output": [str(file) for file in rule.output],
            "states_threads": stated[rule.name],
            "resources": {k: r.is_evaluable() for k, r in rule.resources.items()},
        }
        for rule in workflow.rules
    ]
print(json.dumps(found))
"""


@cache
def rules():
    """Every rule: `name`, `conda` and `script` (paths or None), `output` (names of files).

    `modules` are the names of the modules that its script imports by name. `states_threads` says
    whether the rule has `threads:`, and `resources` whether a function gives the resource of that
    name.
    """
    command = [sys.executable, "-c", READ, REPOSITORY / "workflow" / "Snakefile"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = [SimpleNamespace(**rule) for rule in json.loads(done.stdout)]
    for rule in found:
        for kind in ("conda", "script"):
            if name := getattr(rule, kind):
                setattr(rule, kind, (Path(rule.folder) / name).resolve())
    return found
