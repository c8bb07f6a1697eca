"""The lab's agent gateway: the HTTP side of OpenClaw, with butlerctl's own function-calling loop behind it."""
