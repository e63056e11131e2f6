"""What goes wrong, one function each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.chaos.fleet import OUTAGE, Chaos
from tests.chaos.history import Figures
from tests.chaos.servers import Clock, PgBouncer, Primary, SmallDisk, Standby, cluster, fake_time
from tests.servers import PrivateMariaDB, PrivateServer, private_server, running, server_folder

Scenario = Callable[[Chaos], Figures]
SCENARIOS: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    SCENARIOS[function.__name__.replace("_", "-")] = function
    return function


@scenario
def postgres_synchronous_fail_over(chaos: Chaos) -> Figures:
    """PostgreSQL with a synchronous standby: the primary is killed, the standby is promoted."""
    with _primary_and_standby() as (primary, standby):
        primary.wait_for_standbys()
        both = _both_hosts(primary, standby)
        with chaos.fleet(both, both) as fleet:
            fleet.work(chaos.part())
            primary.kill()
            fleet.say("the primary is killed")
            fleet.work(chaos.part())
            standby.promote()
            fleet.say("the standby is promoted")
            fleet.work(chaos.part())
            return fleet.finish()


@scenario
def postgres_asynchronous_fail_over(chaos: Chaos) -> Figures:
    """PostgreSQL with a standby that lags: what it has not received is lost with the primary."""
    with _primary_and_standby() as (primary, standby):
        both = _both_hosts(primary, standby)
        with chaos.fleet(both, both) as fleet:
            fleet.work(chaos.part())
            standby.cut_off()
            fleet.say("the standby lags")
            fleet.work(chaos.part(0.1))
            primary.kill()
            standby.promote()
            fleet.say("the primary is killed, the standby is promoted")
            fleet.work(chaos.part(0.5))
            return fleet.finish(may_lose=True)


@scenario
def pgbouncer_restarted(chaos: Chaos) -> Figures:
    """PgBouncer lends three connections by transaction, and is killed and started twice."""
    with (
        server_folder() as folder,
        server_folder() as another,
        running(Primary(folder)) as server,
        running(PgBouncer(another, server, connections=3)) as bouncer,
    ):
        environment = {**_at(bouncer), **_settings(DISABLE_SERVER_SIDE_CURSORS=True)}
        return _kill_twice(chaos, bouncer, environment, pause=0.05)


@scenario
def mariadb_killed(chaos: Chaos) -> Figures:
    """MariaDB is killed and started twice."""
    with private_server("mariadb") as server:
        return _kill_twice(chaos, server, _at(server))


@scenario
def mysql_killed(chaos: Chaos) -> Figures:
    """MySQL is killed and started twice."""
    with private_server("mysql") as server:
        return _kill_twice(chaos, server, _at(server))


@scenario
def galera_node_killed(chaos: Chaos) -> Figures:
    """Three Galera nodes with a worker on each; the last one is killed and joins again."""
    with cluster(3) as nodes, chaos.fleet(*map(_at, nodes), shared=0.5) as fleet:
        fleet.work(chaos.part())
        nodes[2].stop()
        fleet.say("a node is killed")
        fleet.work(chaos.part())
        nodes[2].start()
        fleet.say("the node is back")
        fleet.work(chaos.part())
        return fleet.finish(tolerated=lambda worker: OUTAGE if worker == 2 else ())


@scenario
def postgres_disk_full(chaos: Chaos) -> Figures:
    """PostgreSQL has no room left on its disk, until there is some again."""
    options = ("-c", "max_wal_size=48MB", "-c", "min_wal_size=32MB")
    return _fill_and_free(chaos, Primary, 160, *options)


@scenario
def mariadb_disk_full(chaos: Chaos) -> Figures:
    """MariaDB has no room left on its disk, until there is some again."""
    return _fill_and_free(chaos, PrivateMariaDB, 250)


@scenario
def postgres_clocks(chaos: Chaos) -> Figures:
    """Workers are two hours ahead and behind; PostgreSQL's clock goes ten minutes ahead at once."""
    return _turn_clocks(chaos, Primary)


@scenario
def mariadb_clocks(chaos: Chaos) -> Figures:
    """Workers are two hours ahead and behind; MariaDB's clock goes ten minutes ahead at once."""
    return _turn_clocks(chaos, PrivateMariaDB)


def _kill_twice(
    chaos: Chaos, server: PrivateServer, environment: dict[str, str], pause: float = 0.02
) -> Figures:
    with chaos.fleet(environment, environment, pause=pause) as fleet:
        for _ in range(2):
            fleet.work(chaos.part())
            server.stop()
            fleet.say("it is killed")
            fleet.work(chaos.part(0.1))
            server.start()
            fleet.say("it is started")
            fleet.goes_on()
        return fleet.finish()


def _fill_and_free(
    chaos: Chaos, kind: type[PrivateServer], megabytes: int, *options: str
) -> Figures:
    with (
        server_folder() as folder,
        SmallDisk(folder / "data", megabytes) as disk,
        running(kind(folder, *options)) as server,
        chaos.fleet(_at(server), _at(server), pause=0.005) as fleet,
    ):
        fleet.work(chaos.part())
        disk.fill()
        fleet.say("the disk is full")
        fleet.notices()
        fleet.say("it was noticed")
        fleet.work(chaos.part())
        disk.free()
        fleet.say("there is room again")
        for _ in range(3):
            # As a service manager does: it may have given up, or be about to.
            server.start_again()
            fleet.work(chaos.part(0.1))
        return fleet.finish()


def _turn_clocks(chaos: Chaos, kind: type[PrivateServer]) -> Figures:
    with server_folder() as folder:
        clock = Clock(folder)
        with running(kind(folder, **clock.variables)) as server:
            others = [{**_at(server), **fake_time(offset)} for offset in ("+2h", "-2h")]
            with chaos.fleet(_at(server), *others) as fleet:
                fleet.work(chaos.part())
                clock.set("+10m")
                fleet.say("the database's clock goes ten minutes ahead")
                fleet.work(chaos.part())
                return fleet.finish(tolerated=lambda worker: ())


@contextmanager
def _primary_and_standby() -> Iterator[tuple[Primary, Standby]]:
    with (
        server_folder() as folder,
        server_folder() as another,
        running(Primary(folder)) as primary,
        running(Standby(another, primary)) as standby,
    ):
        yield primary, standby


def _both_hosts(primary: Primary, standby: Standby) -> dict[str, str]:
    """Let libpq find out which of the two takes writes."""
    return {
        **_at(primary),
        **_settings(
            HOST="127.0.0.1,127.0.0.1",
            PORT=f"{primary.port},{standby.port}",
            OPTIONS={"target_session_attrs": "read-write"},
        ),
    }


def _at(server: PrivateServer) -> dict[str, str]:
    return {"JOBU_TEST_DATABASE": server.service, **server.environment}


def _settings(**settings: object) -> dict[str, str]:
    return {"JOBU_TEST_DATABASE_SETTINGS": json.dumps(settings)}
