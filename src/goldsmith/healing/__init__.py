"""Healing: a failure gets a code, a code its remedies, and a decision becomes a request."""
