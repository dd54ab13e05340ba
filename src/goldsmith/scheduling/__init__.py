"""When, and may it now: requests are put, taken, carried out and put back. Read loop.py first."""
