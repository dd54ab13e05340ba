"""Run plans on Spark, stage by stage. Read stage.py first."""
