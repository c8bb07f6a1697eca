"""What the linter looks for: one rule a module, named in `registry`."""
