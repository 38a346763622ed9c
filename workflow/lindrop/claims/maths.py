"""Conversion of plain-text formulas (a_i, a_{i+1}, θ^{1/r}) to HTML subscripts and superscripts."""

import re

from markupsafe import Markup, escape

# a single letter or a symbol can have a subscript, the last letter of a name like max_rss cannot
BASE = r"(?<![A-Za-z0-9_])[a-z]|[A-Z]|[^\W_a-zA-Z0-9]|[\u0300-\u036f‖∇∂Σ'’)\]]"
SUBSCRIPT = re.compile(rf"({BASE})_(?:{{([^{{}}]*)}}|([a-z0-9]+|[^\W_]|\*))")
SUPERSCRIPT = re.compile(r"\^(?:{([^{}]*)}|([A-Za-z0-9]+|\([^()]*\)))")


def typeset(text: str) -> Markup:
    """Text as escaped HTML, with subscripts and superscripts set."""
    lowered = SUBSCRIPT.sub(
        lambda match: f"{match[1]}<sub>{match[2] or match[3]}</sub>", str(escape(text))
    )
    return Markup(SUPERSCRIPT.sub(lambda match: f"<sup>{match[1] or match[2]}</sup>", lowered))
