"""The settings of one process in one environment, read once.

Precedence: an environment variable, `[environments.NAME]` of goldsmith.toml, its top level, a
default. `sections.py` lists every setting; `settings.py` puts them together; start reading there.
"""
