"""Destinations: where a stage's rows go, a lake table or a warehouse table, seen alike."""
