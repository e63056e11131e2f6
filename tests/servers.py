"""Private database servers that a test may stop and start as it likes."""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest

from tests.addresses import variable
from tests.workers import MANAGE

NAME = "jobu_test_private"
_DATABASES = {"sqlite", "postgres", "mariadb", "mysql"}


def missing(what: str) -> NoReturn:
    """Skip the test; fail where every database is required, for such a machine has all else."""
    required = os.environ.get("JOBU_TEST_REQUIRE", "").split(",")
    if _DATABASES.issubset(required):
        pytest.fail(f"{what} is not here, but JOBU_TEST_REQUIRE names every database")
    pytest.skip(f"{what} is not here")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class PrivateServer:
    """A database server of our own, in a temporary folder."""

    service: str
    shutdown_signal = signal.SIGTERM
    quick: tuple[str, ...] = ()
    """Options for a server that need not survive the loss of its machine, only that of itself."""

    def __init__(
        self, folder: Path, *options: str, host: str = "127.0.0.1", **variables: str
    ) -> None:
        self.folder = folder
        self.host = host
        self.port = free_port()
        self._options = options
        self._variables = variables
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What points the test project at this server."""
        return {
            variable(self.service, "host"): self.host,
            variable(self.service, "port"): str(self.port),
        }

    def create(self) -> None:
        """Make the server's files, start it and make the test project's database."""
        raise NotImplementedError

    def command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        with (self.folder / "server.log").open("a") as log:
            self._process = subprocess.Popen(
                [*self.command(), *self._options],
                stdout=log,
                stderr=log,
                user=server_user(),
                cwd=self.folder,
                env={**os.environ, **self._variables},
            )
        end = time.monotonic() + 60
        while not self._answers():
            assert time.monotonic() < end, (self.folder / "server.log").read_text()
            time.sleep(0.05)

    def start_again(self) -> None:
        """Start it if it has ended by itself."""
        assert self._process is not None
        if self._process.poll() is not None:
            self.start()

    def stop(self) -> None:
        """Stop it the hard way, as a machine that loses power would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def shut_down(self) -> None:
        """Stop it the proper way, so that its files can be copied."""
        assert self._process is not None
        self._process.send_signal(self.shutdown_signal)
        self._process.wait()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let every process of it stand still, as if its disk or its machine did."""
        assert self._process is not None
        pids = [self._process.pid, *children_of(self._process.pid)]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)

    @contextmanager
    def locked(self, table: str) -> Iterator[None]:
        """Let nobody read or write the test project's table."""
        raise NotImplementedError

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.stop()

    def _answers(self) -> bool:
        try:
            self._execute("SELECT 1")
        except Exception:
            return False
        return True

    def _execute(self, sql: str) -> None:
        raise NotImplementedError

    def run(self, *command: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command, capture_output=True, user=server_user(), cwd=self.folder, check=False
        )


Server = TypeVar("Server", bound=PrivateServer)


class PrivatePostgreSQL(PrivateServer):
    service = "postgres"
    # A fast shutdown: it waits for nobody.
    shutdown_signal = signal.SIGINT
    quick = ("-c", "fsync=off")

    def __init__(self, folder: Path, *options: str, **more: str) -> None:
        super().__init__(folder, *options, **more)
        self._bin = _find_folder_of(
            "initdb", sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
        )

    def create(self) -> None:
        _check(self.run(str(self._bin / "initdb"), "-D", "data", "-U", "postgres", "-A", "trust"))
        with (self.folder / "data" / "pg_hba.conf").open("a") as access:
            access.write("host all all all trust\n")
        self.start()
        self._execute(f"CREATE DATABASE {NAME}")

    def command(self) -> list[str]:
        options = [
            "-c",
            f"listen_addresses={self.host}",
            "-c",
            f"unix_socket_directories={self.folder}",
        ]
        return [str(self._bin / "postgres"), "-D", "data", "-p", str(self.port), *options]

    def stop(self) -> None:
        # An immediate shutdown: the postmaster takes its backends with it, nobody is asked.
        _check(self.run(str(self._bin / "pg_ctl"), "-D", "data", "-m", "immediate", "stop"))
        assert self._process is not None
        self._process.wait()

    @contextmanager
    def locked(self, table: str) -> Iterator[None]:
        import psycopg

        address = f"host={self.host} port={self.port} user=postgres dbname={NAME}"
        with psycopg.connect(address) as connection:
            connection.execute(f"LOCK TABLE {table}")
            yield

    def _execute(self, sql: str) -> None:
        import psycopg

        address = f"host={self.host} port={self.port} user=postgres dbname=postgres"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(sql)


class _MySQLFamily(PrivateServer):
    """What MariaDB and MySQL have in common."""

    program: str
    initialize: tuple[str, ...]
    quick = ("--innodb-flush-log-at-trx-commit=2",)

    def create(self) -> None:
        program, *options = self.initialize
        _check(self.run(program, "--no-defaults", *options, *self._folders()))
        self.start()
        self._execute("CREATE USER root@'%'")
        self._execute("GRANT ALL ON *.* TO root@'%'")
        self._execute(f"CREATE DATABASE {NAME} CHARACTER SET utf8mb4")

    def command(self) -> list[str]:
        return [
            self.program,
            "--no-defaults",
            *self._folders(),
            f"--port={self.port}",
            f"--bind-address={self.host}",
            "--skip-name-resolve",
            f"--socket={self.folder}/server.sock",
            f"--pid-file={self.folder}/server.pid",
        ]

    def _folders(self) -> tuple[str, ...]:
        # A server that starts deletes the temporary tables of others that it finds beside its own.
        return (f"--datadir={self.folder}/data", f"--tmpdir={self.folder}")

    @contextmanager
    def locked(self, table: str) -> Iterator[None]:
        import MySQLdb

        with closing(MySQLdb.connect(**self._address, database=NAME)) as connection:
            connection.cursor().execute(f"LOCK TABLES {table} WRITE")
            yield

    def _execute(self, sql: str) -> None:
        import MySQLdb

        with closing(MySQLdb.connect(**self._address)) as connection:
            connection.cursor().execute(sql)

    @property
    def _address(self) -> dict[str, str]:
        return {"unix_socket": f"{self.folder}/server.sock", "user": "root"}


class PrivateMariaDB(_MySQLFamily):
    service = "mariadb"
    program = "mariadbd"
    initialize = ("mariadb-install-db", "--auth-root-authentication-method=normal")

    def __init__(self, folder: Path, *options: str, **more: str) -> None:
        super().__init__(folder, *options, **more)
        for program in ("mariadb-install-db", "mariadbd"):
            if shutil.which(program) is None:
                missing(program)


class PrivateMySQL(_MySQLFamily):
    service = "mysql"
    program = "mysqld"
    initialize = ("mysqld", "--initialize-insecure")

    def __init__(self, folder: Path, *options: str, **more: str) -> None:
        super().__init__(folder, *options, **more)
        # MariaDB brings a program of that name, too.
        if shutil.which("mysqld") is None or b"MariaDB" in self.run("mysqld", "--version").stdout:
            missing("MySQL's mysqld, which .ci/server can put on the PATH,")

    def command(self) -> list[str]:
        # The X plugin would listen at a port of its own, the same one in each server.
        return [*super().command(), "--mysqlx=OFF"]


_SERVERS: dict[str, type[PrivateServer]] = {
    server.service: server for server in (PrivatePostgreSQL, PrivateMariaDB, PrivateMySQL)
}


_kept = ExitStack()
atexit.register(_kept.close)


@contextmanager
def private_server(vendor: str, host: str = "127.0.0.1") -> Iterator[PrivateServer]:
    """Run a server of our own, with the test project's tables."""
    kind = _SERVERS[vendor]
    with server_folder() as folder:
        server = kind(folder, *kind.quick, host=host)
        _check(server.run("cp", "-a", f"{_template(vendor)}/data", "data"))
        try:
            server.start()
            yield server
        finally:
            server.close()


@cache
def _template(vendor: str) -> Path:
    """Make the files of a server once: to copy them takes a tenth of the time."""
    folder = _kept.enter_context(server_folder())
    with running(_SERVERS[vendor](folder)) as server:
        ours = {"JOBU_TEST_DATABASE": vendor, "JOBU_TEST_RUN": "private", "JOBU_TEST_PROCESS": "1"}
        subprocess.run(
            [sys.executable, str(MANAGE), "migrate", "--verbosity", "0"],
            env={**os.environ, **server.environment, **ours},
            check=True,
        )
        server.shut_down()
    return folder


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """Make the server, and stop it at the end."""
    try:
        server.create()
        yield server
    finally:
        server.close()


@contextmanager
def server_folder() -> Iterator[Path]:
    """Make a folder for a server; pytest's own are closed to the server's user."""
    with tempfile.TemporaryDirectory(prefix="jobu-test-") as folder:
        owner = server_user()
        if owner is not None:
            shutil.chown(folder, owner)
        yield Path(folder)


def server_user() -> str | None:
    """Neither server likes to run as root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "mysql", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    return None


def children_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in children.split()]


def _find_folder_of(program: str, folders: Sequence[Path]) -> Path:
    on_path = shutil.which(program)
    if on_path:
        return Path(on_path).parent
    for folder in folders:
        if (folder / program).exists():
            return folder
    missing(program)


def _check(done: subprocess.CompletedProcess[bytes]) -> None:
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
