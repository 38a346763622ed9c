"""What the documents show."""

import re


def python_blocks(page):
    """The Python examples of a page."""
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
