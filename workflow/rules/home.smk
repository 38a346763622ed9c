# Places of this workflow's own files, also if it is used as a module. This file has no rules.
import os
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from snakemake.sourcecache import HostingProviderFile, LocalGitFile, LocalSourceFile


def own_folder(source):
    """Folder of the repository that contains `source`, an included file of the workflow.

    Of a module in a Git repository, Snakemake fetches the files that rules name, one by one, but
    not the library. So the commit is unpacked once into .snakemake/, which jobs of a cluster see as
    well, and everything after this file is taken from there.
    """
    if isinstance(source, LocalSourceFile):
        return Path(str(source)).resolve().parents[1]
    if isinstance(source, LocalGitFile):
        from git import Repo  # slow, and not often needed

        repository = Repo(source.repo_path)
    elif isinstance(source, HostingProviderFile):
        repository = source.hosted_repo.repo
    else:
        sys.exit(
            f"lindrop: error: {source}: the workflow can be used from a folder or from a Git "
            "repository (github(), gitlab(), git+file://), not from single files of a web server"
        )
    commit = repository.commit(source.ref).hexsha
    copy = Path(".snakemake", "lindrop", commit).absolute()
    if copy.is_dir():
        return copy
    partial = copy.with_name(f"{commit}.{os.getpid()}.part")
    partial.mkdir(parents=True)
    try:
        with tempfile.TemporaryFile() as archive:
            repository.archive(archive, commit, path=["workflow", "config", "envs"])
            archive.seek(0)
            with tarfile.open(fileobj=archive) as files:
                files.extractall(partial)
        partial.rename(copy)
    except OSError:
        if not copy.is_dir():  # else another job was faster
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return copy


def own_file(*parts):
    """File of this repository as an input, to which a module's prefix is not applied."""
    return local(os.path.relpath(OWN.joinpath(*parts)))


def own_files(*parts):
    """Files of this repository that match a pattern, to be used as inputs."""
    folder = OWN.joinpath(*parts[:-1])
    return [own_file(*parts[:-1], file.name) for file in sorted(folder.glob(parts[-1]))]


def default_configuration():
    """config/config.yaml of the working directory, or that of this repository if there is none."""
    here = Path("config", "config.yaml")
    file = str(here if here.exists() else OWN / here)
    check_configuration(file)
    return file


def check_configuration(file):
    """End with one line where the text of a configuration is wrong, which YAML readers do not see."""
    from lindrop.base.errors import UserError
    from lindrop.configuration.config_text import check_file

    try:
        check_file(file)
    except UserError as error:
        sys.exit(f"lindrop: error: {error}")


OWN = own_folder(workflow.current_basedir)
WORKFLOW = OWN / "workflow"
library = sys.modules.get("lindrop")
if library and Path(library.__file__).resolve().parents[1] != WORKFLOW.resolve():
    sys.exit(
        f"lindrop: error: {library.__file__} is loaded already: one Snakefile can use one version of "
        "lindrop as a module"
    )
RULES = WORKFLOW / "rules"
if re.search("[{}]", str(OWN)):
    sys.exit(
        f"lindrop: error: {OWN}: Snakemake takes braces in a path for wildcards; move the project to a "
        "folder without them"
    )
# Scripts run this library, also where another version of it is installed.
sys.path.insert(0, str(WORKFLOW))
os.environ.update(
    PYTHONPATH=os.pathsep.join(
        [str(WORKFLOW), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
)
