"""How fast jobu is beside its peers: `make bench`, or `python -m benchmarks`."""
