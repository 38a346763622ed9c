"""A copy of the project that is extended as CONTRIBUTING.md says, and which files that takes."""


class Extension:
    """Edits of a copy of the project. `files` lists the files edited, each once."""

    def __init__(self, project):
        self.project, self.files = project, []

    def add(self, name, text):
        """A new file."""
        assert not self.project.path(name).exists(), name
        self._write(name, text)

    def insert(self, name, text, before):
        """Text put into a file, in front of other text that the file has exactly once."""
        self.replace(name, before, text + before)

    def replace(self, name, old, new):
        """Text of a file in place of other text that the file has exactly once."""
        found = self.project.path(name).read_text(encoding="utf-8")
        assert found.count(old) == 1, (name, old, found.count(old))
        self._write(name, found.replace(old, new))

    def python(self, arguments):
        """Run Python with the library of the copy; returns what it printed."""
        return self.project.ok(f"python {arguments}", PYTHONPATH=str(self.project.path("workflow")))

    def tests(self, *arguments):
        """Run tests of the copy, in one process; returns what they printed."""
        return self.python(f"-m pytest --numprocesses=0 {' '.join(arguments)}")

    def _write(self, name, text):
        self.project.write(name, text)
        if name not in self.files:
            self.files.append(name)
