"""A program uses the parts of the kernel that exploits begin with: io_uring, bpf, ptrace."""

from __future__ import annotations

from pathlib import Path

from hub.tests.attacks.boxed import answers
from tests.tools import NEEDS_BUBBLEWRAP


@NEEDS_BUBBLEWRAP
def test_a_program_reaches_no_part_of_the_kernel_that_it_does_not_need(tmp_path: Path) -> None:
    refused = answers("kernel", tmp_path)
    assert {"io_uring", "bpf", "ptrace", "vsock"} <= {*refused}
    others = dict.fromkeys(("io_uring", "a call that is newer than the filter", "x32"), "ENOSYS")
    others |= {"vsock": "EAFNOSUPPORT", "what is in memory": "ENOTSUP", "a terminal": "ENOENT"}
    assert refused == {name: others.get(name, "EPERM") for name in refused}
