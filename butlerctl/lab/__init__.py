"""The embedded stack on loopback: Google, n8n, a model and an agent gateway, with plantable faults."""
