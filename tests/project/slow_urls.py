"""URLs whose import does not end, inside of an exec() as those of dataclasses are."""

exec("""
import time
print("importing the URLs", flush=True)
while True:
    time.sleep(0.01)
""")
