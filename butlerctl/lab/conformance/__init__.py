"""Gateway conformance: a scripted model and scripted webhooks misbehave, and what the gateway makes of it is recorded."""
