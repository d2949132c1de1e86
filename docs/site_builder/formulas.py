"""Formulas as MathML, which browsers draw themselves: no script, no fonts, nothing to fetch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.logging import getLogger

if TYPE_CHECKING:
    from sphinx.application import Sphinx

UNKNOWN = re.compile(r"\\(?:textstyle|big)(?![a-zA-Z])")
"""Commands about sizes that docutils does not know; a formula reads the same without them."""


def mathml(formula: str, block: bool) -> str:
    """Return a LaTeX formula as MathML."""
    return tex2mathml(UNKNOWN.sub("", formula), as_block=block)


def add_mathml(app: Sphinx) -> None:
    """Make `mathml` the way in which the site shows formulas, inside a line and on lines of their own."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))


def _inline(translator: Any, node: Any) -> None:
    _write(translator, node, block=False)


def _block(translator: Any, node: Any) -> None:
    _write(translator, node, block=True)


def _write(translator: Any, node: Any, block: bool) -> None:
    try:
        translator.body.append(mathml(node.astext(), block))
    except MathError as mistake:
        getLogger(__name__).warning("a formula cannot be shown: %s", mistake, location=node)
    raise SkipNode
