"""An app with a command called `runworker`, as Django Channels has it."""
