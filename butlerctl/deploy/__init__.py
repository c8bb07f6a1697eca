"""Deployment of the workflows to n8n, and the way back: plan, apply, snapshot, rollback, drift."""
