"""Pages for people and for load balancers."""
