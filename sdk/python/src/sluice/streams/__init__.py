"""Providers' streams as the message that they amount to, the same as the gateway records."""
