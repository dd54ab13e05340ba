"""Take requests, plan and run them, record outcomes, requeue. Read loop.py first."""
