"""All that talks to the outside: GitHub, the database, the terminal, the browser."""
