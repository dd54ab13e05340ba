"""Goldsmith: a catalog of rows declares what should happen, and Spark runs it.

A *pipeline* is an ordered list of *stages*. A stage reads *datasets* (rows of `sources` or
`targets`), shapes them and writes one. A *run* is one execution of a pipeline. The *catalog*
holds what people declared, the *journal* what happened.

Imports point down; `tests/shape/test_layers.py` checks them:

    cli                                     commands
    api                                     routes over HTTP
    service                                 the clock, workers kept alive, incidents, probes
    demo                                    the demo project
    worker                                  take a request, plan it, run it, record its outcome
    runtime                                 the open settings, catalog, journal and storage
    engine  collectors  emitters  gateway   run a plan on Spark; collect, push, receive pushes
    scheduling  healing                     decide, purely: who runs next; what follows a failure
    planning                                rows to plan; what is new of inputs; findings
    checks  lineage  digest  assets  lakehouse
                                            what must hold; SQL to tables; pushes; raw records
    journal                                 audit log, requests, runs, leases, verdicts
    storage                                 object stores, file listings, lake catalogs
    catalog                                 the declared rows and their history
    setup  http_client                      Java and jars on this machine; HTTP requests
    settings  credentials  logs
    registry                                plugins found by file name
    errors

Start with `worker/loop.py` (a request), `planning/planner.py` (rows to plan) and `engine/stage.py`
(one stage). `docs/architecture.md` lists the files of one run in order.
"""
