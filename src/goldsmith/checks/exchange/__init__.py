"""Export and import of rule sets: Great Expectations suites and dbt tests."""
