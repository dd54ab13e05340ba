"""Receive what others push: the ingest API and the GraphQL that Monte Carlo's clients speak."""
