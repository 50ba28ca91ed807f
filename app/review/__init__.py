"""The steps of one review: read, judge in the sandbox, place, render, reconcile, post."""
