"""Write rows to staging, then to lake and warehouse tables in each write mode."""
