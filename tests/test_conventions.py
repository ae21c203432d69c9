"""What people expect of a repository: files that others read, packages, documents as a site."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cw import __version__
from tests.documents_site import documents_site
from tests.typed import ROOT

SCHEMAS = {
    "github-workflows": [".github/workflows/checks.yml"],
    "github-issue-config": [".github/ISSUE_TEMPLATE/config.yml"],
    "github-issue-forms": [".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/idea.yml"],
    "dependabot": [".github/dependabot.yml"],
    "citation-file-format": ["CITATION.cff"],
}
MOST_OF_A_WHEEL = 6_000_000
PATIENCE = 600.0


def run(*arguments: str, **environment: str) -> str:
    """Run a module of this Python at the root of the repository; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def keeps_to_schema(schema: str, *files: str) -> None:
    """Check files by a schema that the checker brings along."""
    run("check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files)


def built_twice(project: str, folder: Path) -> dict[str, bytes]:
    """Build the packages of a project, and check that they are the same when built again."""
    built = []
    for name in ("one", "two"):
        run("build", "--no-isolation", "--outdir", str(folder / name), project)
        built.append({file.name: file.read_bytes() for file in (folder / name).iterdir()})
    assert sorted(Path(name).suffix for name in built[0]) == [".gz", ".whl"]
    assert built[0] == built[1]
    return built[0]


@pytest.mark.thorough
@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_that_others_read_keep_to_their_schema(schema: str) -> None:
    keeps_to_schema(schema, *SCHEMAS[schema])


def test_the_workflow_types_what_the_readme_says() -> None:
    workflow = (ROOT / ".github/workflows/checks.yml").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    jobs = yaml.safe_load(workflow)["jobs"].values()
    lines = "\n".join(step.get("run", "") for job in jobs for step in job["steps"]).split("\n")
    typed = [line for line in lines if line and ".ci/run" not in line]
    assert {"make test", ".venv\\Scripts\\python -m tests"} <= set(typed)
    assert [line for line in typed if f"`{line}`" not in readme] == []


def test_the_hooks_before_a_commit_call_what_is_here() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    entries = [hook["entry"].split() for hook in hooks]
    assert {entry[2] for entry in entries} == {"ruff", "tests", "pytest"}
    paths = [part for entry in entries for part in entry if part.startswith("tests/")]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_version_and_its_date_are_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.findall(r"^## (\S+), (\S+)$", changes, re.M)[0]
    assert newest == (__version__, citation["date-released"])
    assert citation["version"] == __version__


@pytest.mark.thorough
def test_packages_are_the_same_to_the_byte_when_built_twice(tmp_path: Path) -> None:
    (wheel,) = (
        content for name, content in built_twice(".", tmp_path).items() if name.endswith(".whl")
    )
    assert len(wheel) <= MOST_OF_A_WHEEL


@pytest.mark.thorough
def test_the_documents_make_a_site_without_a_broken_link(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    site = documents_site(tmp_path_factory)
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    documents = {
        path.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        for path in (ROOT / "docs").rglob("*.md")
    }
    assert documents <= pages
    assert 'id="cw-championship-run"' in (site / "reference/command-line.html").read_text("utf-8")
    reference = (site / "reference/python.html").read_text("utf-8")
    assert "cw.matches.spec.MatchSpec" in reference
