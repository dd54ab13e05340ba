"""Object stores, file listings, Iceberg catalogs and the staging folder, without Spark."""
