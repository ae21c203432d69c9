"""The files of hub/deploy/: each is readable, and what it starts and sets is known."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from cw.cli import main
from cw_hub.operation.settings import declared, read_settings, variable
from tests.tools import CADDY, SYSTEMD

DEPLOY: Final = Path(__file__).resolve().parent.parent / "deploy"
UNITS: Final = sorted((DEPLOY / "systemd").glob("*.service"))
ROLE_UNITS: Final = [unit for unit in UNITS if "@" not in unit.stem]
KNOWN: Final = {variable(one) for one in declared()}
STRATEGIES: Final = {
    f"acb-strategy-{name}"
    for name in ("random", "gatherer", "rusher", "guardian", "swarm", "hunter")
}
RUNNING_PROGRAMS: Final = ("cw-players@", "cw-programs")
ROLES: Final = {"acb-api", "acb-worker", "acb-scheduler"} | STRATEGIES


@cache
def services() -> Mapping[str, Any]:
    compose: Mapping[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return compose


@cache
def documents() -> tuple[Any, ...]:
    return tuple(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))


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
    ("place", "command"), [pytest.param(*one, id=one[0]) for one in commands()]
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
    names = {line.split("=")[0] for line in (DEPLOY / "compose.env.example").read_text().split()}
    assert needed - names == {"CW_MASTER_KEYS", "CW_SECRET_KEY"}


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


@pytest.mark.parametrize("version", ["1.25", "1.37"])
def test_kubernetes_knows_each_field(version: str) -> None:
    """By its own schemas: of the oldest version that it is written for, and of the newest."""
    lint = [sys.executable, "-m", "kubernetes_validate", "--strict", "-k", version]
    ended = subprocess.run(
        [*lint, str(DEPLOY / "kubernetes.yaml")], check=False, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def pods() -> Iterator[tuple[str, Any]]:
    """Give what each deployment and job of Kubernetes runs, by its name."""
    for document in documents():
        if document["kind"] in {"Deployment", "Job"}:
            yield document["metadata"]["name"], document["spec"]["template"]


PODS: Final = dict(pods())


@pytest.mark.parametrize("name", PODS)
def test_each_pod_keeps_to_the_standard_restricted(name: str) -> None:
    """As https://kubernetes.io/docs/concepts/security/pod-security-standards/ has it, and more."""
    pod, (one,) = PODS[name]["spec"], PODS[name]["spec"]["containers"]
    whole, own = pod["securityContext"], one["securityContext"]
    assert whole["runAsNonRoot"] is True
    assert whole["runAsUser"] > 0
    assert whole["seccompProfile"] == {"type": "RuntimeDefault"}
    assert own == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & {*pod}
    assert pod["automountServiceAccountToken"] is False
    assert all({*volume} == {"name", "emptyDir"} for volume in pod["volumes"])
    assert all(volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"])
    mounted = {mount["mountPath"] for mount in one["volumeMounts"]}
    assert mounted >= {"/tmp"}
    assert all("hostPort" not in port for port in one.get("ports", ()))


def test_the_namespace_admits_nothing_less() -> None:
    (namespace,) = (one for one in documents() if one["kind"] == "Namespace")
    labels = namespace["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    of_it = {one["metadata"].get("namespace") for one in documents() if one != namespace}
    assert of_it == {namespace["metadata"]["name"]}


def test_each_role_has_its_own_secrets_alone() -> None:
    """The nodes of workers may be strangers': no cookie and no mail can be made from there."""
    secrets = {}
    for name, template in PODS.items():
        (one,) = template["spec"]["containers"]
        sources = [source.get("secretRef", {}).get("name") for source in one.get("envFrom", ())]
        keys = [entry["valueFrom"]["secretKeyRef"] for entry in one["env"] if "valueFrom" in entry]
        secrets[name] = {*filter(None, sources), *(f"{key['name']}.{key['key']}" for key in keys)}
    assert secrets == {
        "acb-migrate": {"migrate"},
        "acb-api": {"pages"},
        "acb-scheduler": {"scheduler"},
        "acb-worker": {"worker"},
    } | {name: {f"strategies.{name.removeprefix('acb-strategy-')}"} for name in STRATEGIES}


def test_requests_are_what_was_measured() -> None:
    """A process of a role takes 0.11 to 0.17 GiB, a strategy 61 MB; half a processor plays."""
    requests = {name: one["spec"]["containers"][0]["resources"]["requests"] for name, one in pods()}
    assert {one["memory"] for name, one in requests.items() if name not in STRATEGIES} == {"256Mi"}
    assert {requests[name]["memory"] for name in STRATEGIES} == {"96Mi"}
    replicas = {name: one["spec"]["replicas"] for name, one in deployments().items()}
    cpu = {name: int(one["cpu"].removesuffix("m")) for name, one in requests.items()}
    assert sum(cpu[name] * number for name, number in replicas.items()) <= 2500


def test_a_drain_of_nodes_leaves_pages_and_a_worker() -> None:
    budgets = {
        one["spec"]["selector"]["matchLabels"]["app"]: one["spec"]["minAvailable"]
        for one in documents()
        if one["kind"] == "PodDisruptionBudget"
    }
    assert budgets == {"acb-api": 1, "acb-worker": 1}
    for name in budgets:
        (spread,) = PODS[name]["spec"]["topologySpreadConstraints"]
        assert spread["topologyKey"] == "kubernetes.io/hostname"
        assert selects(spread["labelSelector"], PODS[name]["metadata"]["labels"])
    assert PODS["acb-api"]["spec"]["containers"][0]["lifecycle"]["preStop"]


def policies(kind: str) -> Iterator[tuple[Any, Any]]:
    """Give the selector of pods of each policy, and each of its rules in a direction."""
    for one in documents():
        if one["kind"] == "NetworkPolicy":
            for rule in one["spec"].get(kind, ()):
                yield one["spec"]["podSelector"], rule


def selects(selector: Any, labels: Mapping[str, str]) -> bool:
    """Return whether a selector of Kubernetes takes a pod."""
    exact = selector.get("matchLabels", {}).items() <= labels.items()
    return exact and all(
        labels.get(one["key"]) in one["values"] for one in selector.get("matchExpressions", ())
    )


def reached(labels: Mapping[str, str], address: str, port: int) -> bool:
    """Return whether a pod may connect to an address outside of the namespace."""
    for selector, rule in policies("egress"):
        if selects(selector, labels) and port in {one["port"] for one in rule.get("ports", ())} | (
            {port} if "ports" not in rule else set()
        ):
            for block in (to["ipBlock"] for to in rule["to"] if "ipBlock" in to):
                network, client = ip_network(block["cidr"]), ip_address(address)
                if client in network and not any(
                    client in ip_network(other) for other in block.get("except", ())
                ):
                    return True
    return False


def test_the_migration_reaches_postgresql_alone() -> None:
    labels = PODS["acb-migrate"]["metadata"]["labels"]
    assert reached(labels, "10.0.0.5", 5432)
    for address, port in (("10.0.0.5", 6379), ("10.0.0.5", 9000), ("93.184.216.34", 443)):
        assert not reached(labels, address, port)


@pytest.mark.parametrize("name", ["acb-api", "acb-scheduler", "acb-worker"])
def test_roles_reach_bots_and_services_and_nothing_else_within(name: str) -> None:
    labels = PODS[name]["metadata"]["labels"]
    assert reached(labels, "93.184.216.34", 8443)
    assert reached(labels, "2606:2800:220:1::1", 443)
    for port in (6432, 6379, 9000):
        assert reached(labels, "10.0.0.5", port)
    # They speak to PgBouncer, not to PostgreSQL.
    assert not reached(labels, "10.0.0.5", 5432)
    for address in ("10.0.0.5", "192.168.1.1", "172.16.3.4", "169.254.169.254", "100.64.0.1"):
        assert not reached(labels, address, 22)
        assert not reached(labels, address, 80)
    for address in ("fd00::1", "fe80::1", "::1", "::ffff:10.0.0.5"):
        assert not reached(labels, address, 80)


def test_strategies_reach_nobody_and_nobody_else_is_reached() -> None:
    strategy = PODS["acb-strategy-swarm"]["metadata"]["labels"]
    assert not any(selects(selector, strategy) for selector, _ in policies("egress"))
    opened = [selector for selector, _ in policies("ingress")]
    assert {
        name
        for name, pod in PODS.items()
        if any(selects(selector, pod["metadata"]["labels"]) for selector in opened)
    } == {"acb-api"} | STRATEGIES
    (nothing,) = (
        one["spec"]
        for one in documents()
        if one["kind"] == "NetworkPolicy" and one["spec"]["podSelector"] == {}
    )
    assert nothing == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


DONE_ONCE: Final = {"acb-migrate", "acb-bucket", "acb-register"}
WITHOUT_PORT: Final = {"acb-scheduler", "acb-worker"}


def test_each_service_of_compose_is_watched_and_hardened() -> None:
    for name, service in services().items():
        assert service["logging"]["options"]["max-size"], name
        check = service.get("healthcheck")
        if name in WITHOUT_PORT:
            assert check == {"disable": True}
        elif name not in DONE_ONCE:
            assert check["test"][0] == "CMD", name
        if service["image"] == "circuit-wars":
            assert service["read_only"] is True, name
            assert service["tmpfs"] == ["/tmp"], name
            assert service["cap_drop"] == ["ALL"], name
            assert service["security_opt"] == ["no-new-privileges:true"], name


def test_compose_gives_mail_and_github_to_those_alone_who_need_them() -> None:
    having = {
        name: {one for one in ("CW_MAIL", "CW_GITHUB_SECRET") if one in service["environment"]}
        for name, service in services().items()
        if "CW_DATABASE_URL" in service.get("environment", {})
    }
    assert {name for name, one in having.items() if "CW_MAIL" in one} == {"acb-scheduler"}
    assert {name for name, one in having.items() if "CW_GITHUB_SECRET" in one} == {"acb-api"}


def test_compose_trusts_its_proxy_alone_and_opens_its_network_to_no_player() -> None:
    settings = services()["acb-api"]["environment"]
    proxy = services()["acb-web"]["networks"]["private"]["ipv4_address"]
    assert settings["CW_TRUSTED_PROXY"] == proxy
    assert settings["CW_BOT_NETWORK"] == "public"
    example = (DEPLOY / "hub.env.example").read_text()
    assert "\nCW_BOT_NETWORK=public\n" in example


@SYSTEMD.unless(shutil.which("systemd-analyze"))
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_are_exposed_little(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    match = re.search(r"exposure level for \S+: ([0-9.]+)", ended.stdout)
    if match is None:
        pytest.skip("this systemd cannot judge files")
    # A unit that gives each program a control group writes to them, and counts 0.1 more.
    assert float(match[1]) <= (3.1 if unit.stem in RUNNING_PROGRAMS else 3.0)


@pytest.mark.parametrize("name", RUNNING_PROGRAMS)
def test_units_that_run_programs_may_limit_each(name: str) -> None:
    unit = DEPLOY / "systemd" / f"{name}.service"
    assert lines_of(unit, "Delegate") == {"cpu memory pids"}
    # Else the end of a program that takes too much memory would end the service.
    assert lines_of(unit, "OOMPolicy") == {"continue"}
    assert lines_of(unit, "ProtectControlGroups") == set()


def test_the_pooler_lends_connections_for_a_transaction() -> None:
    assert "\npool_mode = transaction\n" in (DEPLOY / "pgbouncer.ini").read_text()


@SYSTEMD.unless(shutil.which("systemd-analyze"))
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    copies = []
    for unit in (*UNITS, *(DEPLOY / "systemd").glob("*.socket")):
        text = unit.read_text().replace("/opt/circuit-wars/bin/cw", sys.executable)
        copies.append(tmp_path / unit.name)
        copies[-1].write_text(text.replace("User=cw\n", "User=root\n"))
    ended = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *copies],
        check=False,
        capture_output=True,
        text=True,
    )
    ours = [line for line in ended.stderr.splitlines() if str(tmp_path) in line or "cw-" in line]
    assert ours == []


SYSTEMCTL: Final = """#!/bin/sh
case "$*" in
    "--quiet is-enabled $INSTALLED") ;;
    "show --property=Environment --value $INSTALLED") echo "CW_DATA=/var/lib/$INSTALLED OTHER=1" ;;
    *) exit 1 ;;
esac
"""
"""Knows one unit."""


def lines_of(unit: Path, name: str) -> set[str]:
    return set(re.findall(rf"^{name}=(.*)$", unit.read_text(), re.M))


@pytest.mark.skipif(os.name != "posix", reason="there is no shell")
@pytest.mark.parametrize("unit", ROLE_UNITS, ids=lambda unit: unit.name)
def test_commands_are_typed_as_the_unit_would(unit: Path, tmp_path: Path) -> None:
    for name, text in (("systemctl", SYSTEMCTL), ("systemd-run", '#!/bin/sh\nprintf "%s\\n" "$@"')):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "INSTALLED": unit.stem}
    ended = subprocess.run(
        ["sh", DEPLOY / "systemd" / "cw.sh", "hub", "user", "lock", "a b"],
        check=True,
        capture_output=True,
        text=True,
        env=environment | {"BOT_SECRET": "of a bot"},
    )
    typed = ended.stdout.splitlines()
    (user,), (file,), (mask,) = (lines_of(unit, it) for it in ("User", "EnvironmentFile", "UMask"))
    assert {f"--uid={user}", f"--property=EnvironmentFile={file}"} <= {*typed}
    assert {f"--property=UMask={mask}", "--setenv=BOT_SECRET"} <= {*typed}
    assert {f"--setenv=CW_DATA=/var/lib/{unit.stem}", "--setenv=OTHER=1"} <= {*typed}
    (start,) = lines_of(unit, "ExecStart")
    assert typed[-5:] == [start.split()[0], "hub", "user", "lock", "a b"]


@CADDY.unless(shutil.which("caddy"))
def test_caddy_takes_its_file(tmp_path: Path) -> None:
    command = ["caddy", "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    environment = os.environ | {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    ended = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
