"""What a process leaves behind that is killed: the next one removes it, and nothing else."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cw.arena.sandbox import cgroups
from cw.arena.sandbox.cgroups import (
    Owner,
    Swept,
    is_left,
    make_temporary,
    open_share,
    owner_of,
    places,
    prefix,
    sweep,
)
from cw.arena.sandbox.set_limits import ResourceLimits
from cw.errors import Failure
from tests.arena.zoo import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="owners are told by /proc")

HOLDER = """
import sys, time
from pathlib import Path
from cw.arena.sandbox.set_limits import ResourceLimits
from cw.arena.sandbox.cgroups import make_temporary
from cw.arena.sandbox.cgroups import open_share
home = make_temporary("bot")
(home / "deep" / "deeper").mkdir(parents=True)
(home / "deep" / "file").write_text("x")
share = open_share(ResourceLimits())
print(home, *share.groups, flush=True)
time.sleep(600)
"""

PLAY = [sys.executable, "-m", "cw", "play", "paint", "--no-replay", "--option", "turns=2"]


@pytest.fixture(autouse=True)
def own_folder(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Let temporary files of a test go into a folder of its own, whose name is short."""
    tmp_path_factory.getbasetemp()
    folder = Path(tempfile.mkdtemp(prefix="left-"))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def holder() -> Iterator[tuple[subprocess.Popen[str], list[Path]]]:
    """Run a process that holds a folder and control groups."""
    command = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, [Path(part) for part in process.stdout.readline().split()]
        process.kill()


def test_what_a_killed_process_held_is_removed_and_not_before(
    holder: tuple[subprocess.Popen[str], list[Path]],
) -> None:
    process, folders = holder
    assert all(place.is_dir() for place in folders)
    sweep()
    assert all(place.is_dir() for place in folders)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert sweep().folders == 1
    # Another process of the tests may have begun to remove the groups, which all of them see.
    wait_until(lambda: not any(place.exists() for place in folders))
    assert sweep().folders == 0


def test_who_has_ended_but_is_not_waited_for_holds_nothing(
    holder: tuple[subprocess.Popen[str], list[Path]],
) -> None:
    process, folders = holder
    os.kill(process.pid, signal.SIGKILL)
    until = time.monotonic() + 300
    while owner_of(process.pid) is not None and time.monotonic() < until:
        time.sleep(0.01)
    assert is_left(folders[0].name)


def test_a_killed_match_is_swept_by_the_next_one(own_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text("import time; time.sleep(600)")
    (tmp_path / "bot.py").write_text("")
    asleep = [*PLAY, "sleeper.py", "builtin:still"]
    with subprocess.Popen(asleep, cwd=tmp_path, stderr=subprocess.DEVNULL) as match:
        owner = owner_of(match.pid)
        until = time.monotonic() + 300
        while not list(own_folder.glob("cw-bot-*/bot*")) and time.monotonic() < until:
            time.sleep(0.01)
        match.send_signal(signal.SIGKILL)
    assert owner is not None
    left = [place.name for place in own_folder.glob("cw-bot-*")]
    assert left
    assert all(is_left(name) for name in left)
    subprocess.run(
        [*PLAY, "bot.py", "builtin:still"], cwd=tmp_path, capture_output=True, check=False
    )
    assert list(own_folder.glob("cw-*")) == []
    names = f"cw-bot-*-{match.pid:x}-*"
    wait_until(lambda: not any(True for place in places() for _ in place.folder.glob(names)))


def test_processes_that_outlive_their_owner_are_ended(
    holder: tuple[subprocess.Popen[str], list[Path]],
) -> None:
    process, (_, *groups) = holder
    if not groups:
        pytest.skip("needs control groups that may be written")
    with subprocess.Popen(["sleep", "600"]) as orphan:
        for group in groups:
            (group / "cgroup.procs").write_text(str(orphan.pid))
        process.kill()
        process.wait()
        sweep()
        assert orphan.wait(300) < 0
    wait_until(lambda: not any(group.exists() for group in groups))


def test_only_what_is_ours_and_left_is_touched(own_folder: Path, tmp_path: Path) -> None:
    here = owner_of(os.getpid())
    assert here is not None
    gone = here._replace(started=here.started - 1)

    def name(owner: Owner, rest: str = "abc") -> str:
        return "-".join(["cw", "bot", *(f"{part:x}" for part in owner), rest])

    others = [
        make_temporary("bot").name,
        name(gone._replace(namespace=here.namespace + 1)),
        "cw-bot-abcdefgh",
        f"{name(gone)}-",
        f"x{name(gone)}",
    ]
    for entry in others[1:]:
        (own_folder / entry).mkdir()
    (own_folder / name(gone, "file")).write_text("")
    (own_folder / name(gone, "link")).symlink_to(tmp_path)
    (tmp_path / "precious").write_text("")
    (own_folder / name(gone, "dir.7")).mkdir()
    assert sweep().folders == 1
    left = {place.name for place in own_folder.iterdir()}
    assert left == {*others, name(gone, "file"), name(gone, "link")}
    assert (tmp_path / "precious").exists()


def test_a_sweep_is_bounded_and_what_cannot_be_removed_stops_nothing(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = owner_of(os.getpid())
    assert here is not None
    for number in range(5):
        parts = (here.namespace, here.process, here.started - 1)
        (own_folder / "-".join(["cw-bot", *(f"{part:x}" for part in parts), str(number)])).mkdir()
    monkeypatch.setattr(cgroups, "MOST", 2)
    assert sweep().folders == 2
    monkeypatch.setattr(cgroups, "MOST", 100)
    monkeypatch.setattr(cgroups, "remove_tree", lambda _: (_ for _ in ()).throw(OSError("no")))
    assert sweep().folders == 0


def test_a_name_tells_this_process(own_folder: Path) -> None:
    assert not is_left(f"{prefix('bot')}abc")
    share = open_share(ResourceLimits())
    assert not any(is_left(group.name) for group in share.groups)
    share.remove()
    assert Swept(2, 3).describe() == "removed 2 folders and 3 control groups of killed runs"


def test_a_disk_without_room_for_temporary_files_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", list)
    with pytest.raises(Failure, match="is the disk full"):
        make_temporary("bot")


def test_the_doctor_sweeps(holder: tuple[subprocess.Popen[str], list[Path]]) -> None:
    process, folders = holder
    process.kill()
    process.wait()
    command = [sys.executable, "-m", "cw", "doctor", "--json"]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert "removed 1 folders" in output
    assert not folders[0].exists()
