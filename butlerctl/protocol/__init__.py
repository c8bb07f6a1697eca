"""Function calling: one internal call, one dispatch, one observation per call."""
