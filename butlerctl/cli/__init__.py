"""The command line: one thin module per command. Parse, call, print, exit."""
