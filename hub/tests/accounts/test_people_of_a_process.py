"""People on `cw hub serve` as it is typed: an empty folder, no setting, the mail from its queue."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from hub.tests.campaign import Role, roles, run, wait_until
from hub.tests.sites import PASSWORD, Visitor, words_of


@pytest.mark.thorough
def test_a_link_comes_by_mail_and_another_is_printed(tmp_path: Path) -> None:
    data = {"CW_DATA": str(tmp_path / "data")}
    hub = Role(["serve", "--port", "0"], data, tmp_path / "hub.log")
    with roles(hub):
        wait_until(lambda: "Hub: " in hub.log.read_text(), "the hub")
        match = re.search(r"Hub: (\S+)/", hub.log.read_text())
        assert match
        address = match[1]
        ada = Visitor(address)
        assert ada.register("Ada").headers["Location"] == "/ranking"
        assert Visitor(address).fill("/forgot", username="ADA").status_code == 303
        folder = tmp_path / "data" / "mail"
        wait_until(lambda: folder.is_dir() and any(folder.iterdir()), "the mail")
        (path,) = folder.iterdir()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        wait_until(lambda: "The End of Codes Team." in path.read_text(), "the whole mail")
        link = re.search(rf"^{re.escape(address)}(/reset/\S{{43}})$", path.read_text(), re.M)
        assert link
        visitor = Visitor(address)
        done = visitor.fill(link[1], password="123456", password_repeat="123456")
        assert done.headers["Location"] == "/ranking"
        assert not ada.is_player()

        printed = run("user", "reset-link", "Ada", CW_PUBLIC_URL=address, **data)
        assert printed.returncode == 0, printed.stderr
        other = printed.stdout.strip().removeprefix(address)
        assert Visitor(address).open(other).status_code == 200
        assert run("user", "lock", "ada", **data).returncode == 0
        assert not visitor.is_player()
        assert "has expired" in words_of(Visitor(address).open(other))
        log = hub.log.read_text()
        for secret in (PASSWORD, "ada@example.org"):
            assert secret not in log
