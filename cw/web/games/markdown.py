"""Documents of the project as HTML, for pages of any width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape


class Renderer(RendererHTML):
    """Puts what may be wider than a phone where it can be scrolled, with the keyboard too."""

    def table_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Begin a table."""
        return '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n'

    def table_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """End a table."""
        return "</table></div>\n"

    def code_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Return lines of code, in whatever language."""
        return Markup('<pre tabindex="0"><code>{}</code></pre>\n').format(tokens[idx].content)

    fence = code_block

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Return the words for a picture: the server has none of the documentation's."""
        return escape(tokens[idx].content)


MARKDOWN: Final = MarkdownIt("js-default", renderer_cls=Renderer)
"""Tables are on, and HTML in the text is text."""
