"""Reports: what a run found out, as a signed statement, checked by a policy, rendered for readers."""
