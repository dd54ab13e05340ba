"""Do: walk a plan, stage by stage, on Spark."""
