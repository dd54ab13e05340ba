"""The few settings of one process, environments included, read once.

Order: an environment variable, `[environments.NAME]` of goldsmith.toml, its top level, a default.
`sections.py` lists every setting; `settings.py` puts them together; start reading there.
"""
