"""The processes of hub/deploy/compose.yaml without an engine: each on a host of its own.

Commands, environments, order, names, addresses, read-only file systems and rights are those of the
file. What images bring is taken from this machine: PostgreSQL, PgBouncer, Redis, Caddy, and
OpenStack Swift in the place of MinIO.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import yaml

from hub.tests.campaign import ROOT, wait_until
from hub.tests.disks import mounted
from hub.tests.services import PostgreSQL
from hub.tests.soak.hosts import Host, joined

DEPLOY: Final = ROOT / "hub" / "deploy"
NAMES: Final = Path("/etc/netns")
"""Where `ip netns exec` takes files of /etc from, for each host."""

VARIABLE: Final = re.compile(r"\$\$|\$\{(\w+)(?::-([^}]*))?\}")

DISK: Final = "512m"
"""The size of the disks of rows and objects."""

PROGRAM: Final = (sys.executable, "-m", "cw")
"""The entry point of our image."""


def filled(value: Any, environment: Mapping[str, str]) -> Any:
    """Return a part of the file with its variables replaced; raise KeyError for one not set."""

    def text_of(match: re.Match[str]) -> str:
        if match[1] is None:
            return "$"
        return environment.get(match[1]) or (
            environment[match[1]] if match[2] is None else match[2]
        )

    if isinstance(value, str):
        return VARIABLE.sub(text_of, value)
    if isinstance(value, list):
        return [filled(one, environment) for one in value]
    if isinstance(value, dict):
        return {name: filled(one, environment) for name, one in value.items()}
    return value


@dataclass
class Instance:
    """A container of a service: a process on a host."""

    service: str
    about: Mapping[str, Any]
    host: Host
    folder: Path
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    again: Callable[[], object] = field(default=lambda: None, init=False)
    """Starts it once more, after it was killed."""
    disk: Path | None = field(default=None, init=False)
    """Of what it keeps, where that has a disk of its own."""

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of the service, with folders of this machine."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin"
        own = {name: str(value) for name, value in self.about.get("environment", {}).items()}
        return own | {"PATH": path, "CW_DATA": str(self.folder), "HOME": str(self.folder)}

    def start(self, command: Sequence[str]) -> None:
        """Start a command on the host, in the environment of the service."""
        self.again = partial(self.start, command)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.host.within, *command],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Type a command of the hub in the container."""
        command = [*self.host.within, *PROGRAM, "hub", *words]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )

    def type(self, *words: str) -> str:
        """Type a command that succeeds; return what it prints."""
        ended = self.run(*words)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def enclosed(self, *more: str) -> Sequence[str]:
        """Return what a command begins with that sees a read-only system, as the file says."""
        place = str(self.folder)
        line = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        # The program itself may lie below /tmp.
        line += ["--tmpfs", "/tmp", "--ro-bind", str(ROOT), str(ROOT), "--bind", place, place]
        return [*line, "--cap-drop", "ALL", *more, "--"]

    def ended(self) -> int | None:
        """Return the exit code of a process that has ended."""
        assert self.process is not None
        return self.process.poll()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, 9)
            self.process.wait()


class Composed:
    """All that the file starts without a profile."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        """Read the file; nothing is started yet."""
        text = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
        services = {
            name: filled(about, environment)
            for name, about in text["services"].items()
            if "profiles" not in about
        }
        self.services: Mapping[str, Any] = services
        (network,) = text["networks"]["private"]["ipam"]["config"]
        self.network = network["subnet"].rpartition(".")[0]
        self.instances = [
            self.instance(folder, number, name)
            for number, name in enumerate(
                name
                for name, about in services.items()
                for _ in range(about.get("deploy", {}).get("replicas", 1))
            )
        ]
        self.stack = ExitStack()

    def instance(self, folder: Path, number: int, name: str) -> Instance:
        """Return a process of a service, on a host of its own."""
        networks = self.services[name]["networks"]
        fixed = networks["private"]["ipv4_address"] if isinstance(networks, dict) else ""
        place = folder / f"{name}-{number}"
        place.mkdir()
        last = int(fixed.rpartition(".")[2] or 0)
        return Instance(name, self.services[name], Host(number, self.network, last), place)

    def of(self, service: str) -> list[Instance]:
        return [one for one in self.instances if one.service == service]

    def write_names(self, host: Host) -> None:
        """Let a host know all services by their names."""
        lines = [f"{one.host.address} {one.service}\n" for one in self.instances]
        place = NAMES / host.name
        self.stack.callback(shutil.rmtree, place)
        place.mkdir(parents=True)
        (place / "hosts").write_text("127.0.0.1 localhost\n" + "".join(lines))

    def start(self) -> None:
        """Start all services in the order that they wait for each other."""
        started: set[str] = set()
        while waiting := [name for name in self.services if name not in started]:
            name = next(one for one in waiting if {*self.needs(one)} <= started)
            for other, condition in self.needs(name).items():
                self.wait_for(other, condition)
            for one in self.of(name):
                HOW.get(name, start_ours)(self, one)
                self.stack.callback(one.stop)
            started.add(name)

    def needs(self, name: str) -> Mapping[str, str]:
        """Return what a service waits for, and until when."""
        needed = self.services[name].get("depends_on", {})
        if isinstance(needed, list):
            return dict.fromkeys(needed, "service_started")
        return {other: about["condition"] for other, about in needed.items()}

    def wait_for(self, name: str, condition: str) -> None:
        for one in self.of(name):
            if condition == "service_completed_successfully":
                wait_until(lambda one=one: one.ended() is not None, name)  # type: ignore[misc]
                assert one.ended() == 0, one.log.read_text()
            elif condition == "service_healthy":
                wait_until(partial(is_well, one), name)


def is_well(one: Instance) -> bool:
    """Return whether the health check of a service succeeds on its host."""
    kind, *command = one.about["healthcheck"]["test"]
    assert kind == "CMD"
    return subprocess.run([*one.host.within, *command], check=False).returncode == 0


def start_ours(_: Composed, one: Instance) -> None:
    """Start a process of our own image."""
    assert one.about["image"] == "circuit-wars"
    assert one.about["read_only"]
    entry = one.about.get("entrypoint", PROGRAM)
    one.start([*one.enclosed(), *entry, *one.about["command"]])


def start_postgresql(composed: Composed, one: Instance) -> None:
    """Start a server as the image does: with a user, a password and a database."""
    disk = Path(mkdtemp(prefix="cw-disk-"))
    composed.stack.callback(disk.rmdir)
    composed.stack.enter_context(mounted(disk, DISK))
    one.disk = disk
    server = PostgreSQL(one.log, folder=disk)
    user, password = (one.about["environment"][f"POSTGRES_{it}"] for it in ("USER", "PASSWORD"))
    server.user, server.port = [*one.host.within, *server.user], 5432
    server.addresses = f"127.0.0.1,{one.host.address}"
    with (server.folder / "pg_hba.conf").open("a") as rules:
        rules.write("host all all samenet scram-sha-256\n")
    with (server.folder / "postgresql.conf").open("a") as settings:
        settings.write("max_wal_size = 128MB\n")
    composed.stack.callback(one.host.signal, signal.SIGKILL)
    server.start()
    one.again = server.start
    for statement in (
        f"CREATE ROLE {user} LOGIN SUPERUSER PASSWORD '{password}'",
        f"CREATE DATABASE {user} OWNER {user}",
    ):
        server.run("psql", "-h", "127.0.0.1", "-U", "postgres", "-c", statement)


def start_pgbouncer(_: Composed, one: Instance) -> None:
    """Start it by the script and the settings of the file; as root it would refuse."""
    settings = ("--ro-bind", str(DEPLOY / "pgbouncer.ini"), "/etc/pgbouncer/pgbouncer.ini")
    nobody = ("--unshare-user", "--uid", "70", "--gid", "70")
    one.start([*one.enclosed(*settings, *nobody), "sh", str(DEPLOY / "pgbouncer.sh")])


def start_redis(_: Composed, one: Instance) -> None:
    """Start it as the image does, which lets others in without a password."""
    folder = ["--protected-mode", "no", "--dir", str(one.folder)]
    one.start([*one.about["command"], *folder])


def start_store(composed: Composed, one: Instance) -> None:
    """Start Swift where MinIO would be."""
    one.disk = one.folder / "device"
    one.disk.mkdir()
    composed.stack.enter_context(mounted(one.disk, DISK))
    program = str(ROOT / "hub/tests/swift_server.py")
    one.start(["/usr/bin/python3", program, str(one.folder), "9000", one.host.address])


def start_web(_: Composed, one: Instance) -> None:
    """Start Caddy by the file that is mounted."""
    one.start(["caddy", "run", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")])


HOW: Final[Mapping[str, Callable[[Composed, Instance], None]]] = {
    "postgresql": start_postgresql,
    "pgbouncer": start_pgbouncer,
    "redis": start_redis,
    "store": start_store,
    "acb-web": start_web,
}
"""How services are started that are not of our image."""


@contextmanager
def another_machine(
    hub: Composed, folder: Path, environment: Mapping[str, str]
) -> Iterator[Instance]:
    """Give a new host on the network of a hub, with the settings of its scheduler but for some."""
    (scheduler,) = hub.of("acb-scheduler")
    about = {"environment": scheduler.about["environment"] | environment}
    machine = Instance("elsewhere", about, Host(len(hub.instances), hub.network), folder)
    hub.write_names(machine.host)
    machine.host.begin()
    try:
        machine.host.join()
        yield machine
    finally:
        machine.host.end()


@contextmanager
def composed(folder: Path, environment: Mapping[str, str]) -> Iterator[Composed]:
    """Run all that the file starts while the block runs."""
    hub = Composed(folder, environment)
    with joined([one.host for one in hub.instances]), hub.stack:
        for one in hub.instances:
            hub.write_names(one.host)
        hub.start()
        yield hub
