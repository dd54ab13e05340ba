"""The service: fire due schedules, keep workers alive, open incidents. Read serve.py first."""
