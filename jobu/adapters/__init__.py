"""Adapters: what connects jobu to queue systems."""
