"""Plain texts with a_i, a_{i+1} and θ^{1/r} as HTML with subscripts and superscripts."""

import re

from markupsafe import Markup, escape

# what carries a subscript is a letter on its own, or a symbol: not the end of a name like max_rss
BASE = r"(?<![A-Za-z0-9_])[a-z]|[A-Z]|[^\W_a-zA-Z0-9]|[\u0300-\u036f‖∇∂Σ'’)\]]"
SUBSCRIPT = re.compile(rf"({BASE})_(?:{{([^{{}}]*)}}|([a-z0-9]+|[^\W_]|\*))")
SUPERSCRIPT = re.compile(r"\^(?:{([^{}]*)}|([A-Za-z0-9]+|\([^()]*\)))")


def typeset(text: str) -> Markup:
    """Escaped."""
    lowered = SUBSCRIPT.sub(
        lambda match: f"{match[1]}<sub>{match[2] or match[3]}</sub>", str(escape(text))
    )
    return Markup(SUPERSCRIPT.sub(lambda match: f"<sup>{match[1] or match[2]}</sup>", lowered))
