"""From a launch's command line to its effective config, on the config tree of the snapshot."""
