"""Webhook requests: received in ``receive``, judged by one module per event."""
