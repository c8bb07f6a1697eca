"""A small deterministic model behind an OpenAI-compatible endpoint.

It sees the `messages` and `tools` of a request and nothing else: what it knows about the household it was told
by whoever asks, as any model would be.
"""
