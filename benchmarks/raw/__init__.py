"""What the databases themselves can do: claim and complete rows, with nothing around it."""
