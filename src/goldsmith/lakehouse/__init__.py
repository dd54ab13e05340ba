"""The raw lakehouse: store what sources sent, one table for each application."""
