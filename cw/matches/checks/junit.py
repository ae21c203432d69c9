"""The findings of a check as JUnit XML, which build servers show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree as Xml

from cw.arena.bots import BotSpec
from cw.matches.checks.bot import Finding
from cw.visible import visible

NO_XML: Final = re.compile("[\ufffe\uffff]")
"""Characters that XML does not allow, besides those that `visible` has replaced."""


def junit(game: str, bot: BotSpec, findings: Sequence[Finding]) -> bytes:
    """Return a document with one test case for each step; failed steps have a failure.

    A note is the output of its test case. What a bot has sent only appears as text, and no folder
    of this machine is named.
    """
    failed = sum(finding.failed for finding in findings)
    counts = {"tests": str(len(findings)), "failures": str(failed), "errors": "0"}
    suites = Xml.Element("testsuites", counts)
    suite = Xml.SubElement(
        suites, "testsuite", {"name": xml_text(f"cw check {game} {bot.public}"), **counts}
    )
    for finding in findings:
        case = {"classname": f"cw.{game}", "name": xml_text(finding.name)}
        step = Xml.SubElement(suite, "testcase", case)
        if finding.failed:
            failure = Xml.SubElement(step, "failure", {"message": xml_text(finding.brief)})
            failure.text = xml_text(f"{finding.problem}\nfix: {finding.fix}")
        elif finding.problem is not None:
            note = Xml.SubElement(step, "system-out")
            note.text = xml_text(f"note: {finding.problem}\n{finding.fix}")
    document: bytes = Xml.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document


def xml_text(text: str) -> str:
    """Return text that a document may contain."""
    return NO_XML.sub("\ufffd", visible(text))
