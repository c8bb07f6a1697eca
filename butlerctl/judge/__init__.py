"""Pure functions from evidence to verdicts. No I/O, no client, no clock."""
