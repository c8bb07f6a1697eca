"""The real servers behind `--lab --engine real`: installed from npm, started on loopback, stopped again."""
