"""HTML -> the text of it, with headings, list items and links marked as in Markdown."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

LEFT_OUT = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object"})
BLOCK = re.compile(
    "address|article|aside|blockquote|body|br|d[dlt]|div|fieldset|figcaption|figure|footer|form|h[1-6r]|header|li|main"
    "|nav|ol|p|pre|section|table|tbody|td|tfoot|th|thead|title|tr|ul"
)


def html_to_text(html: str, url: str) -> str:
    """Return the readable text of a page; links are absolute, counted from `url`. Broken HTML is no error."""
    reader = _Reader(url)
    reader.feed(html)
    reader.close()
    text = re.sub(r"[ \t]*\n[ \t]*", "\n", "".join(reader.pieces)) if not reader.has_pre else "".join(reader.pieces)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


class _Reader(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.has_pre = False
        self._url = url
        self._left_out = 0
        self._pre = 0
        self._links: list[tuple[str, int]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in LEFT_OUT:
            self._left_out += 1
        elif BLOCK.fullmatch(tag):
            self._left_out *= tag != "body"  # whatever was left open before it
            self._break()
        if self._left_out:
            return
        if tag == "pre":
            self._pre += 1
            self.has_pre = True
        elif tag == "li":
            self.pieces.append("- ")
        elif re.fullmatch("h[1-6]", tag):
            self.pieces.append("\n" + "#" * int(tag[1]) + " ")
        elif tag == "a":
            self._links.append((dict(attrs).get("href") or "", len(self.pieces)))
        elif tag == "img" and (alt := dict(attrs).get("alt")):
            self.pieces.append(f"[{alt}]")

    def handle_endtag(self, tag: str) -> None:
        if tag in LEFT_OUT:
            self._left_out = max(0, self._left_out - 1)
        elif tag == "pre":
            self._pre = max(0, self._pre - 1)
        elif tag == "a" and self._links:
            self._end_link()
        if BLOCK.fullmatch(tag):
            self._break()

    def handle_data(self, data: str) -> None:
        if self._left_out:
            return
        text = data if self._pre else re.sub(r"\s+", " ", data)
        if not self._pre and (not self.pieces or self.pieces[-1].endswith((" ", "\n"))):
            text = text.lstrip(" ")
        if text:
            self.pieces.append(text)

    def _end_link(self) -> None:
        href, start = self._links.pop()
        words = "".join(self.pieces[start:]).strip()
        if words and href and not href.startswith(("#", "javascript:", "data:")):
            try:
                target = urljoin(self._url, href)
            except ValueError:
                return
            self.pieces[start:] = [f"[{words}]({target})"]

    def _break(self) -> None:
        if self.pieces and not self.pieces[-1].endswith("\n"):
            self.pieces.append("\n")
