"""A machine of its own for hub/deploy/systemd: systemd-nspawn boots this system's /usr."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, Final

import pytest

from tests.tools import NSPAWN

ROOT: Final = Path(__file__).resolve().parents[3]
LONGEST: Final = 900.0
"""Seconds for a machine to boot, be attacked, and halt."""

FOLDERS: Final = ("checkout", "checkout/hub", "packages", "bin")
PATH: Final = ":".join(f"/opt/circuit-wars/{name}" for name in FOLDERS)

# By the limits of the tests no machine is too slow for an honest program.
COMMAND: Final = """#!/bin/sh
export PYTHONPATH={path}
exec {python} -m hub.tests.patience "$@"
"""

UNIT: Final = """[Unit]
Description=The attack
Requires=systemd-sysusers.service
After=systemd-sysusers.service

[Service]
Type=oneshot
Environment=PYTHONPATH={path}
ExecStart={python} -m {module} /report
ExecStopPost=/bin/systemctl --no-block poweroff
StandardOutput=file:/report/output
StandardError=inherit
"""


def attacked(module: str, folder: Path) -> Any:
    """Boot a machine on which a module runs as root, and return the report that it has written.

    It is run as `python -m MODULE FOLDER`, and writes FOLDER/report.json. The machine
    has the units, this checkout as /opt/circuit-wars, a network of its own, and is gone afterwards.
    """
    python = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    if os.geteuid() != 0 or not (shutil.which("systemd-nspawn") and Path(python).exists()):
        NSPAWN.missing()
    program, units, report = (folder / name for name in ("bin", "units", "report"))
    for place in (program, units, report):
        place.mkdir()
    (program / "cw").write_text(COMMAND.format(python=python, path=PATH))
    (program / "cw").chmod(0o755)
    # Redis needs this package before Python 3.11.3, and the one of this checkout may be newer.
    (program / "async_timeout.py").write_text("from asyncio import timeout as timeout\n")
    for unit in (ROOT / "hub" / "deploy" / "systemd").glob("cw-*.*"):
        shutil.copy(unit, units)
    (units / "attack.service").write_text(UNIT.format(python=python, path=PATH, module=module))
    bound = {
        str(ROOT): "/opt/circuit-wars/checkout",
        sysconfig.get_paths()["purelib"]: "/opt/circuit-wars/packages",
        str(program): "/opt/circuit-wars/bin",
        str(units): "/run/systemd/system",
    }
    command = ["systemd-nspawn", "--quiet", "--directory=/", "--volatile=yes", "--private-network"]
    command += ["--register=no", "--keep-unit", f"--machine=cw{os.getpid()}", "--console=pipe"]
    command += [f"--bind-ro={source}:{target}" for source, target in bound.items()]
    command += [f"--bind={report}:/report", "--boot"]
    command += ["systemd.unit=attack.service", "systemd.firstboot=no"]
    # There is no network to wait for.
    command += ["systemd.mask=systemd-networkd-wait-online.service"]
    with (folder / "console").open("wb") as console:
        subprocess.run(
            command,
            check=False,
            timeout=LONGEST,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
        )
    written = report / "report.json"
    if not written.exists():
        logs = [log for log in (report / "output", folder / "console") if log.exists()]
        pytest.fail("\n".join(log.read_text(errors="replace")[-4000:] for log in logs))
    return json.loads(written.read_text())
