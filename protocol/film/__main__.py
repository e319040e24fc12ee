"""Writes the front page's film to standard output: `python -m protocol.film > book/bench.svg`."""

from .animated import front_page

print(front_page(), end="")
