"""What commands of `cw hub` say where the database does not answer."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from cw.cli import main
from tests.ports import free_port

KEYS = {"CW_MASTER_KEYS": f"k1:{'A' * 43}=", "CW_SECRET_KEY": "s" * 64}


@pytest.mark.parametrize(
    "words",
    [
        "competition set rated/code-battle rest=0",
        "user list",
        "token list ada",
        "match requeue m_00000000",
        "keys rotate",
        "ratings verify",
        "backup",
        "db current",
        "db upgrade",
    ],
)
def test_a_database_that_refuses_connections_is_one_sentence(
    words: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    url = f"postgresql://cw:cw@127.0.0.1:{free_port()}/cw"
    folder = str(tmp_path_factory.mktemp("hub"))
    environment = KEYS | {"CW_DATABASE_URL": url, "CW_DATA": folder}
    result = CliRunner().invoke(main, ["hub", *words.split()], env=environment)
    assert result.exit_code == 1
    (line,) = result.output.splitlines()
    assert line.startswith("Error: the database does not answer: ")
    assert "refused" in line
