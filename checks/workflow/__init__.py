"""GitHub workflows: loaded with positions, their jobs, runners and ``run:`` blocks."""
