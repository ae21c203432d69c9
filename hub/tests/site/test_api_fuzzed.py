"""The API is asked what its description allows and what not: it never fails, and keeps to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from cw_hub.matches.friendly import new_id
from hub.tests.competitions.rated.test_rated import Arena
from hub.tests.program import make_admin, new_token, program_of
from hub.tests.site.test_api import names_of, registered
from hub.tests.sites import Site
from tests.effort import amount

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def fuzz(
    address: str,
    number: int,
    names: Mapping[str, Sequence[str]],
    headers: Callable[[], Mapping[str, str]],
) -> Counter[int]:
    """Ask so many times; return how often it was answered with which status.

    Half of the names in paths are of what there is; `headers` gives those of the next request.
    """
    schema = schemathesis.openapi.from_url(f"{address}/api/openapi.json")
    results = list(schema.get_all_operations())
    operations = [one.ok() for one in results if isinstance(one, Ok)]
    assert len(operations) == len(results)
    codes: Counter[int] = Counter()
    draw = Random(number)

    @seed(number)
    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def ask(data: Any) -> None:
        operation = data.draw(st.sampled_from(operations))
        mode = data.draw(st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]))
        case = data.draw(operation.as_strategy(generation_mode=mode))
        for name in case.path_parameters or {}:
            if draw.random() < 0.5:
                case.path_parameters[name] = draw.choice(names[name])
        answer = case.call(headers=dict(headers()))
        codes[answer.status_code] += 1
        case.validate_response(answer, checks=CHECKS)

    ask()
    return codes


@pytest.mark.thorough
def test_nothing_that_programs_send_is_a_fault_of_ours(site: Site) -> None:
    Arena(site.resources, site.clock).play(8, Random(1))
    for name in ("Ann", "Root"):
        site.player(name)
    make_admin(site, "Root")
    ann = program_of(site, "Ann", "read", "bots")
    there = names_of(ann)
    names = {name: [value] for name, value in there.items()}
    names["bot_id"].append(registered(site, ann))
    # Of none, in the right form.
    names["challenge_id"] = [new_id()]
    tokens = [None, new_token(site, "Ann", "bots", "read", days=365)]
    tokens += [new_token(site, "Root", "admin", "bots", days=365), "cw_none"]
    random = Random(1)

    def headers() -> dict[str, str]:
        site.clock.advance(60)
        token = random.choice(tokens)
        return {} if token is None else {"Authorization": f"Bearer {token}"}

    number = amount(30, 150, "CW_CASES")
    codes = fuzz(site.address, number, names, headers)
    assert {200, 401, 404} <= set(codes)
