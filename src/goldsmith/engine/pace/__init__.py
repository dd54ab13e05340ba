"""Throttles: stages take tokens from shared buckets and use datasets in micro-batches."""
