"""The files of deploy/: each is readable, and what it starts and sets is known."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from cw.cli import main
from cw.hub.operation.environment import declared, read_settings, variable

DEPLOY: Final = Path(__file__).resolve().parent.parent / "deploy"
UNITS: Final = sorted((DEPLOY / "systemd").glob("*.service"))
KNOWN: Final = {variable(one) for one in declared()}
STRATEGIES: Final = {
    f"acb-strategy-{name}"
    for name in ("random", "gatherer", "rusher", "guardian", "swarm", "hunter")
}
ROLES: Final = {"acb-api", "acb-worker", "acb-scheduler"} | STRATEGIES


def services() -> Mapping[str, Any]:
    found: Mapping[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return found


def documents() -> list[Any]:
    return list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))


def deployments() -> Mapping[str, Any]:
    return {one["metadata"]["name"]: one for one in documents() if one["kind"] == "Deployment"}


def container(deployment: Any) -> Any:
    return deployment["spec"]["template"]["spec"]["containers"][0]


def commands() -> Iterator[tuple[str, list[str]]]:
    """Give each command line of the program that a file has."""
    image = (DEPLOY / "Containerfile").read_text()
    words = re.findall(r"^CMD (\[.*\])$", image, re.M)
    yield "Containerfile", json.loads(words[0])
    for name, service in services().items():
        if service["image"] == "circuit-wars" and "entrypoint" not in service:
            yield f"compose.yaml {name}", service["command"]
    for name, deployment in deployments().items():
        yield f"kubernetes.yaml {name}", container(deployment)["args"]
    for unit in UNITS:
        line = re.findall(r"^ExecStart=\S+/cw (.*)$", unit.read_text(), re.M)
        yield unit.name, shlex.split(line[0])


@pytest.mark.parametrize(
    ("place", "command"), [*commands()], ids=[place for place, _ in commands()]
)
def test_each_command_and_its_options_are_known(
    place: str,
    command: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    checked = command[:2] in (["hub", "serve"], ["hub", "worker"], ["hub", "scheduler"])
    for line in (DEPLOY / "hub.env.example").read_text().splitlines():
        monkeypatch.setenv(*line.split("=", 1))
    with pytest.raises(SystemExit) as ended:
        main([*command, "--check-config" if checked else "--help"])
    assert ended.value.code in (0, None), capsys.readouterr().err


def test_each_variable_is_a_setting() -> None:
    texts = [path.read_text() for path in DEPLOY.rglob("*") if path.is_file()]
    named = {name for text in texts for name in re.findall(r"\bCW_[A-Z_]+\b", text)}
    assert named - KNOWN == set()


def test_the_settings_of_the_example_are_taken_together() -> None:
    lines = (DEPLOY / "hub.env.example").read_text().splitlines()
    settings = read_settings({}, lines)
    assert not settings.is_embedded
    assert not settings.is_local


def test_the_roles_have_their_numbers_and_sizes() -> None:
    composed, deployed = services(), deployments()
    assert ROLES | {"acb-web"} <= {*composed}
    assert {*deployed} == ROLES
    assert [composed[name]["deploy"]["replicas"] for name in ("acb-api", "acb-worker")] == [2, 3]
    replicas = {name: one["spec"]["replicas"] for name, one in deployed.items()}
    assert replicas == dict.fromkeys(ROLES, 1) | {"acb-api": 2, "acb-worker": 3}
    for name in STRATEGIES:
        assert (composed[name]["mem_limit"], composed[name]["cpus"]) == ("128m", 0.25)
    for name in ("acb-api", "acb-worker", "acb-scheduler"):
        assert (composed[name]["mem_limit"], composed[name]["cpus"]) == ("4g", 2)
        limits = container(deployed[name])["resources"]["limits"]
        assert limits == {"cpu": "2", "memory": "4Gi"}
    pods = {name: one["spec"]["template"]["spec"] for name, one in deployed.items()}
    assert {name for name, pod in pods.items() if "tolerations" in pod} == {"acb-worker"}
    assert pods["acb-worker"]["terminationGracePeriodSeconds"] == 30
    assert {name for name, one in composed.items() if "ports" in one} == {"acb-web"}


def test_each_variable_that_compose_needs_is_in_its_example() -> None:
    """Or it is one of the keys, which `cw hub keys new` prints, or has a default."""
    text = (DEPLOY / "compose.yaml").read_text()
    needed = set(re.findall(r"\$\{([A-Z_]+)\}", text))
    given = {line.split("=")[0] for line in (DEPLOY / "compose.env.example").read_text().split()}
    assert needed - given == {"CW_MASTER_KEYS", "CW_SECRET_KEY"}


def test_compose_starts_from_the_files_that_lie_there() -> None:
    for name, service in services().items():
        mounted = [one.split(":")[0] for one in service.get("volumes", ()) if one[0] == "."]
        assert all((DEPLOY / path).exists() for path in mounted), name
        tag = service["image"].partition(":")[2]
        assert service["image"] == "circuit-wars" or tag not in ("", "latest"), name
        assert "max-size" in service["logging"]["options"], name
    waited = services()["acb-api"]["depends_on"]
    assert {*waited} == {"acb-migrate", "acb-bucket"}
    assert "--wait" in services()["acb-migrate"]["command"]


def test_compose_trusts_its_proxy_alone_and_opens_its_network_to_no_player() -> None:
    settings = services()["acb-api"]["environment"]
    proxy = services()["acb-web"]["networks"]["private"]["ipv4_address"]
    assert settings["CW_TRUSTED_PROXY"] == proxy
    assert settings["CW_BOT_NETWORK"] == "public"
    example = (DEPLOY / "hub.env.example").read_text()
    assert "\nCW_BOT_NETWORK=public\n" in example


EXPOSED = {"cw-hub.service": 4.5}
"""The one that runs uploads needs namespaces and mounts."""


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_are_exposed_little(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    found = re.search(r"exposure level for \S+: ([0-9.]+)", ended.stdout)
    if found is None:
        pytest.skip("this systemd cannot judge files")
    assert float(found[1]) <= EXPOSED.get(unit.name, 3.0)


def test_the_pooler_lends_connections_for_a_transaction() -> None:
    assert "\npool_mode = transaction\n" in (DEPLOY / "pgbouncer.ini").read_text()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    copies = []
    for unit in UNITS:
        text = unit.read_text().replace("/opt/circuit-wars/bin/cw", sys.executable)
        copies.append(tmp_path / unit.name)
        copies[-1].write_text(text.replace("User=cw", "User=root"))
    ended = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *copies],
        check=False,
        capture_output=True,
        text=True,
    )
    ours = [line for line in ended.stderr.splitlines() if str(tmp_path) in line or "cw-" in line]
    assert ours == []


@pytest.mark.skipif(shutil.which("caddy") is None, reason="there is no Caddy")
def test_caddy_takes_its_file(tmp_path: Path) -> None:
    command = ["caddy", "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    environment = os.environ | {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    ended = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
