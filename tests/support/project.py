"""A copy of the project in which tests run what a user would type."""

import os
import shutil

from support import forks, processes
from support.repository import BIN


class Project:
    """A copy of the project and the environment in which a user would work in it.

    Its processes begin with the libraries loaded, or as those of a user where this is `real`.
    """

    def __init__(self, folder, real=False):
        self.folder, self.real = folder, real
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        self.env = {
            **{
                k: v
                for k, v in os.environ.items()
                if not k.startswith(("PYTEST", "PYTHONPATH", "MAKE", forks.KNOWN))
            },
            **({"PATH": path} if real else forks.environment(path)),
            "XDG_CACHE_HOME": str(folder / ".cache"),
            # the list of the machine's fonts, which takes seconds where there are many
            "MPLCONFIGDIR": str(BIN.parent / "matplotlib"),
        }

    def copy(self, target):
        """The project as it stands, with its results: what is done there stays done."""
        return Project(shutil.copytree(self.folder, target, dirs_exist_ok=True), self.real)

    def run(self, command, **env):
        """Run a command line as typed; returns the finished process with all output in stdout."""
        return processes.run(command, shell=True, cwd=self.folder, env=self.env | env)

    def ok(self, command, **env):
        done = self.run(command, **env)
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout

    def fails(self, command, **env):
        done = self.run(command, **env)
        assert done.returncode != 0, done.stdout[-3000:]
        return done.stdout

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def path(self, name):
        return self.folder / name
