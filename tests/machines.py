"""Another machine, as far as the network can tell: its cable can be pulled."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address

from tests.servers import missing


class Machine:
    """A network namespace, joined to this one by a pair of virtual network cards.

    What is cut off is dropped without a word, as by a cable that is pulled or a firewall that has
    forgotten: nobody is told.
    """

    def __init__(self, number: int) -> None:
        self.name = f"jobu{number}"
        self.our_address = str(ip_address("10.128.0.0") + 2 * number)
        self._address = str(ip_address("10.128.0.1") + 2 * number)
        self.through = ("ip", "netns", "exec", self.name)

    def create(self) -> None:
        ours, theirs = f"{self.name}-a", f"{self.name}-b"
        _run("ip", "netns", "add", self.name)
        _run("ip", "link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", self.name)
        _run("ip", "address", "add", self.our_address, "peer", self._address, "dev", ours)
        _run("ip", "link", "set", ours, "up")
        inside = ("ip", "-n", self.name)
        _run(*inside, "address", "add", self._address, "peer", self.our_address, "dev", theirs)
        _run(*inside, "link", "set", theirs, "up")

    def cut_off(self) -> None:
        """Let nothing in or out any more."""
        self._drop("INPUT")
        self._drop("OUTPUT")

    def forget_connections(self) -> None:
        """Let nothing through that belongs to a connection that is open now; new ones work."""
        sockets = _run(*self.through, "ss", "-Htn", "state", "established").splitlines()
        for port in {line.split()[2].rpartition(":")[2] for line in sockets}:
            self._drop("INPUT", "-p", "tcp", "--dport", port)
            self._drop("OUTPUT", "-p", "tcp", "--sport", port)

    def join_again(self) -> None:
        _run(*self.through, "iptables", "-F")

    def close(self) -> None:
        # The cards go with the namespace.
        subprocess.run(["ip", "netns", "delete", self.name], check=False)

    def _drop(self, chain: str, *what: str) -> None:
        _run(*self.through, "iptables", "-A", chain, *what, "-j", "DROP")


@contextmanager
def another_machine() -> Iterator[Machine]:
    if os.getuid() != 0:
        missing("root, who alone may make network namespaces,")
    for program in ("ip", "ss", "iptables"):
        if shutil.which(program) is None:
            missing(program)
    # At random, so that two runs on one machine do not meet.
    machine = Machine(secrets.randbelow(1_000_000))
    try:
        machine.create()
        yield machine
    finally:
        machine.close()


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
