"""Decide when pipelines start and which stage runs next: plain functions over values.

`profiles.decide` orders the queue; the service and the simulator call the same function.
Read `values.py` first, then `profiles.py`.
"""
