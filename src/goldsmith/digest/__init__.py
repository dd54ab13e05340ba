"""Digest SQL: which tables and columns a statement reads, and what it writes from them.

`digest.py` is the way in. Read it first; then, in the order a text passes them: `holes.py`
(template text), `lexer.py`, `splitter.py` (statements), `families.py` and `alterations.py`
(statements read from tokens), `ladder.py` (the parser, and what follows when it refuses),
`relations.py` (queries), `writes.py` (targets), `session.py` (temporary tables, defaults).
"""
