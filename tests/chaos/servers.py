"""The servers of the scenarios: a primary and its standby, a proxy, a cluster; disks, clocks."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psycopg

from tests.servers import (
    NAME,
    PrivateMariaDB,
    PrivatePostgreSQL,
    PrivateServer,
    children_of,
    free_port,
    missing,
    running,
    server_folder,
    server_user,
)
from tests.waiting import wait_until

GALERA = Path("/usr/lib/galera/libgalera_smm.so")
_FAKE_TIME = {"FAKETIME_DONT_FAKE_MONOTONIC": "1"}
"""Without it, waits of the threads library end at the wrong time."""


class Primary(PrivatePostgreSQL):
    """A PostgreSQL server that dies as its machine would: with all of its processes."""

    def kill(self) -> None:
        assert self._process is not None
        for pid in [self._process.pid, *children_of(self._process.pid)]:
            os.kill(pid, signal.SIGKILL)
        self._process.wait()

    def wait_for_standbys(self) -> None:
        """From now on no commit is answered before a standby has it."""
        self._execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self._execute("SELECT pg_reload_conf()")


class Standby(Primary):
    """Receives what the primary writes, until it is cut off or promoted."""

    def __init__(self, folder: Path, primary: Primary) -> None:
        super().__init__(folder)
        self._primary = primary

    def create(self) -> None:
        # A copy of its files while nobody writes them: not every PostgreSQL has pg_basebackup.
        self._primary.stop()
        assert self.run("cp", "-a", f"{self._primary.folder}/data", "data").returncode == 0
        self._primary.start()
        data = self.folder / "data"
        (data / "standby.signal").touch()
        with (data / "postgresql.auto.conf").open("a") as settings:
            settings.write(
                f"primary_conninfo = 'host=127.0.0.1 port={self._primary.port} user=postgres'\n"
            )
        self.start()
        wait_until(self._receives, "the standby to follow")

    def cut_off(self) -> None:
        """Receive nothing more: what the primary commits from now on is lost with it."""
        self._execute("ALTER SYSTEM SET primary_conninfo = ''")
        self._execute("SELECT pg_reload_conf()")
        wait_until(lambda: not self._receives(), "the standby to lose its primary")

    def promote(self) -> None:
        self._execute("SELECT pg_promote()")

    def _receives(self) -> bool:
        address = f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"
        with psycopg.connect(address) as connection:
            found = connection.execute("SELECT 1 FROM pg_stat_wal_receiver WHERE pid IS NOT NULL")
            return found.fetchone() is not None


class PgBouncer(PrivateServer):
    """A pooling proxy that lends a connection for one transaction at a time."""

    service = "postgres"

    def __init__(self, folder: Path, server: PrivatePostgreSQL, connections: int) -> None:
        super().__init__(folder)
        self._server = server
        self._connections = connections
        if shutil.which("pgbouncer", path=_system_path()) is None:
            missing("pgbouncer")

    def create(self) -> None:
        (self.folder / "users.txt").write_text('"postgres" ""\n')
        (self.folder / "pgbouncer.ini").write_text(
            f"""
            [databases]
            * = host=127.0.0.1 port={self._server.port}
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = {self.port}
            unix_socket_dir =
            auth_type = trust
            auth_file = {self.folder}/users.txt
            pool_mode = transaction
            default_pool_size = {self._connections}
            max_client_conn = 200
            server_login_retry = 1
            """.replace("            ", "")
        )
        self.start()

    def command(self) -> list[str]:
        return [shutil.which("pgbouncer", path=_system_path()) or "pgbouncer", "pgbouncer.ini"]

    def _execute(self, sql: str) -> None:
        address = f"host=127.0.0.1 port={self.port} user=postgres dbname={NAME}"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(sql)


class GaleraNode(PrivateMariaDB):
    """One of the servers of a cluster that all take writes."""

    def __init__(self, folder: Path, number: int, cluster: list[int]) -> None:
        if not GALERA.exists():
            missing("galera-4")
        address = f"127.0.0.1:{cluster[number]}"
        provider = (
            f"base_port={cluster[number]};gmcast.listen_addr=tcp://{address};"
            f"ist.recv_addr=127.0.0.1:{free_port()};gcache.size=64M;pc.recovery=false"
        )
        super().__init__(
            folder,
            "--wsrep-on=ON",
            f"--wsrep-provider={GALERA}",
            f"--wsrep-provider-options={provider}",
            f"--wsrep-cluster-address=gcomm://{','.join(f'127.0.0.1:{p}' for p in cluster)}",
            f"--wsrep-node-name=node{number}",
            f"--wsrep-node-address={address}",
            "--wsrep-sst-method=rsync",
            f"--wsrep-sst-receive-address=127.0.0.1:{free_port()}",
            "--binlog-format=ROW",
            "--innodb-autoinc-lock-mode=2",
            "--innodb-flush-log-at-trx-commit=2",
        )
        self._is_first = number == 0

    def create(self) -> None:
        if self._is_first:
            self._options = ("--wsrep-new-cluster", *self._options)
            super().create()
            # If it comes again it joins the others.
            self._options = self._options[1:]
        else:
            # Its files are those of a node that is there already.
            (self.folder / "data").mkdir()
            shutil.chown(self.folder / "data", server_user() or os.getuid())
            self.start()


@contextmanager
def cluster(size: int) -> Iterator[list[GaleraNode]]:
    """Run a cluster of this many nodes."""
    with ExitStack() as stack:
        ports = [free_port() for _ in range(size)]
        yield [
            stack.enter_context(running(GaleraNode(stack.enter_context(server_folder()), n, ports)))
            for n in range(size)
        ]


class SmallDisk:
    """A file system with room for the server and little else."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder = folder
        self._megabytes = megabytes

    def __enter__(self) -> SmallDisk:
        self.folder.mkdir()
        size = f"size={self._megabytes}m"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", self.folder], check=True)
        shutil.chown(self.folder, server_user() or os.getuid())
        self.folder.chmod(0o700)
        return self

    def __exit__(self, *_error: object) -> None:
        subprocess.run(["umount", "--lazy", self.folder], check=True)

    def fill(self) -> None:
        with (self.folder / "filler").open("wb", buffering=0) as filler, suppress(OSError):
            while True:
                filler.write(bytes(4096))

    def free(self) -> None:
        (self.folder / "filler").unlink()


class Clock:
    """The clock of a server, which can be set while it runs."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self.set("+0")

    @property
    def variables(self) -> dict[str, str]:
        return {
            **_FAKE_TIME,
            "LD_PRELOAD": _fake_time_library(),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
        }

    def set(self, offset: str) -> None:
        """Be off by `offset`, such as +10m, from now on."""
        new = self._file.with_suffix(".new")
        new.write_text(f"{offset}\n")
        new.chmod(0o644)
        new.rename(self._file)


def fake_time(offset: str) -> dict[str, str]:
    """Return what makes a process believe that it is `offset`, such as -2h, from now."""
    return {**_FAKE_TIME, "LD_PRELOAD": _fake_time_library(), "FAKETIME": offset}


def _fake_time_library() -> str:
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        missing("libfaketime")
    return str(found[0])


def _system_path() -> str:
    """Debian keeps it where only root looks."""
    return f"{os.environ['PATH']}:/usr/sbin"
