"""The n8n stand-in: serves workflow exports on loopback and answers as n8n 2.30.8 does."""
