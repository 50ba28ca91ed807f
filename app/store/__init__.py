"""PostgreSQL: tables, migrations and the queries on them."""
