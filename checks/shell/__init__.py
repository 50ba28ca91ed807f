"""Bash scripts as text, structure and meaning: mask, parse (bashlex), evaluate."""
