"""GitHub's API: the only importer of githubkit."""
