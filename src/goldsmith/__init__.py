"""Goldsmith: a catalog of rows says what should happen, Spark does it, nothing else decides.

The words: a *pipeline* is an ordered list of *stages*; a stage reads *datasets* (rows of
`sources` or `targets`), shapes them and writes one. A *run* carries a pipeline out. The
*catalog* is what people declared, the *journal* is what happened.

Imports point down, and `tests/shape/test_layers.py` keeps it so:

    cli                                             people come in
    runtime                                         the open parts: settings, catalog, journal
    engine                                          do it, on Spark
    planning                                        rows → plan; what is wrong with the rows
    checks                                          what must hold
    journal                                         what happened: audit log, runs, requests
    catalog                                         what is declared
    registry  settings  credentials  logs
    errors

Start reading at `planning/planner.py` (rows → plan) and `catalog/bundle.py` (files → rows).
"""
