"""Rule sets carried to other tools and back: Great Expectations' suites, dbt's tests."""
