"""A page as its elements, texts and faults."""

import re
from html.parser import HTMLParser

VOID = {"meta", "img", "br", "link", "input", "hr", "source"}


class Page(HTMLParser):
    """Elements with their attributes, texts, and what was not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.faults, self.words = [], [], [], []
        self.feed(text)
        self.close()
        self.faults += [f"open: {tag}" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"closed: {tag}")

    def handle_data(self, data):
        if not self.open or self.open[-1] not in {"script", "style"}:
            self.words.append(data)

    def all(self, attribute):
        return [attrs[attribute] for _, attrs in self.elements if attribute in attrs]

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.words))
