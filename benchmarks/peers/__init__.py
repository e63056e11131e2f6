"""The peers, each in a package of its own: `subject.py` drives it, the rest is its user's code.

Nothing of a peer is imported by its `subject.py` before it is measured.
"""
