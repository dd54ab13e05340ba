"""Destinations: lake tables and warehouse tables behind one interface."""
