"""Receive pushes: the ingest API and the GraphQL API that Monte Carlo's clients use."""
