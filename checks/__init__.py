"""What is true about a tree: pure, no network, no database, nothing of the repository executed."""
