"""What is collected and pushed: tables, lineage and query logs, their manifest and their bodies."""
