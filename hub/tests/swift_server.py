"""OpenStack Swift with its S3 interface in one process: Debian's python3-swift, run by its Python.

    /usr/bin/python3 hub/tests/swift_server.py FOLDER PORT [ADDRESS]

All lies in the folder: what was stored is there again when Swift is started on it once more.
"""

import sys
from pathlib import Path

import eventlet
from eventlet import wsgi
from swift.common import utils
from swift.common.ring import RingBuilder
from swift.common.wsgi import SwiftHttpProtocol, loadapp

KINDS = ("account", "container", "object")
"""The servers behind the proxy."""

CLUSTER = """
[swift-hash]
swift_hash_path_suffix = campaign
"""

PROXY = """
[DEFAULT]
swift_dir = {folder}
[pipeline:main]
pipeline = catch_errors gatekeeper memory listing_formats s3api tempauth copy slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
cors_allow_origin = *
strict_cors_mode = false
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:memory]
paste.filter_factory = swift_server:memory
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
"""

BACKEND = """
[DEFAULT]
swift_dir = {folder}
devices = {folder}
mount_check = false
fallocate_reserve = 0
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""


class Memory(dict):  # type: ignore[type-arg]
    """What memcached would be asked, for a proxy that is alone."""

    def set(self, key, value, **_):  # type: ignore[no-untyped-def]
        self[key] = value

    def delete(self, key, **_):  # type: ignore[no-untyped-def]
        self.pop(key, None)

    def __bool__(self) -> bool:
        return True


def memory(_, **_options):  # type: ignore[no-untyped-def]
    """Give each request the memory; as PasteDeploy makes filters."""
    contents = Memory()
    return lambda app: lambda environ, begin: app({**environ, "swift.cache": contents}, begin)


def write_rings(folder: Path, ports: dict[str, int]) -> None:
    """Say where the servers are: one device, one copy."""
    for kind, port in ports.items():
        builder = RingBuilder(part_power=2, replicas=1, min_part_hours=0)
        builder.add_dev(
            {
                "region": 1,
                "zone": 1,
                "ip": "127.0.0.1",
                "port": port,
                "device": "device",
                "weight": 1.0,
            }
        )
        builder.rebalance(seed=1)
        builder.get_ring().save(str(folder / f"{kind}.ring.gz"))


def main(folder: Path, port: int, address: str = "127.0.0.1") -> None:
    """Serve until killed."""
    (folder / "device").mkdir(exist_ok=True)
    listeners = {kind: eventlet.listen(("127.0.0.1", 0)) for kind in KINDS}
    write_rings(folder, {kind: listener.getsockname()[1] for kind, listener in listeners.items()})
    listeners["proxy"] = eventlet.listen((address, port))
    serving = []
    for kind, listener in listeners.items():
        conf = folder / f"{kind}.conf"
        conf.write_text((PROXY if kind == "proxy" else BACKEND).format(folder=folder, kind=kind))
        app = loadapp(str(conf))
        # S3 is asked for an `ETag`, and eventlet would say `Etag`.
        about = {"protocol": SwiftHttpProtocol, "capitalize_response_headers": False}
        serving.append(eventlet.spawn(wsgi.server, listener, app, log_output=False, **about))
    for one in serving:
        one.wait()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / "swift.conf").write_text(CLUSTER)
    utils.set_swift_dir(str(folder))
    utils.eventlet_monkey_patch()
    main(folder, int(sys.argv[2]), *sys.argv[3:])
