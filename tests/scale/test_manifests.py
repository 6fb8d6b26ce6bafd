"""What runs the shards passes the checkers of strangers, and a spoiled copy of each file does not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.unit.repository.files import ROOT

FOLDER = ROOT / "deploy" / "shards"
PROGRAMS = ROOT / ".venv-servers" / "bin"
KUBERNETES = sorted((FOLDER / "kubernetes").glob("*.yaml"))
SPOILED = {
    "shard": ("replicas: 1", "replicas: one"),
    "dagster": ("containers:", "contaners:"),
    "postgres": ("containerPort: 5432", "containerPort: postgres"),
    "network": ("policyTypes: [Ingress, Egress]", "policyType: [Ingress, Egress]"),
}
"""What is changed in a copy of each file, by how its name begins."""


def passes(program: str, *words: str | Path) -> bool:
    return subprocess.run([PROGRAMS / program, *words], capture_output=True, check=False).returncode == 0


def compose_passes(file: Path) -> bool:
    return passes("check-jsonschema", "--builtin-schema", "vendor.compose-spec", file)


def kubernetes_passes(file: Path) -> bool:
    return passes("kubernetes-validate", "--strict", file)


def spoiled(file: Path, directory: Path, before: str, after: str) -> Path:
    text = file.read_text(encoding="utf-8")
    assert before in text
    copy = directory / file.name
    copy.write_text(text.replace(before, after, 1), encoding="utf-8")
    return copy


@pytest.mark.parametrize(
    "file", [FOLDER / "compose" / "compose.yaml", ROOT / "deploy" / "container" / "compose.yaml"], ids=str
)
def test_compose_passes_and_a_spoiled_copy_does_not(tmp_path: Path, file: Path) -> None:
    assert compose_passes(file)
    assert not compose_passes(spoiled(file, tmp_path, "healthcheck:", "healthcheckk:"))


@pytest.mark.parametrize("file", KUBERNETES, ids=lambda one: one.name)
def test_kubernetes_passes_and_a_spoiled_copy_does_not(tmp_path: Path, file: Path) -> None:
    assert kubernetes_passes(file)
    change = SPOILED[file.stem.partition("-")[0]]
    assert not kubernetes_passes(spoiled(file, tmp_path, *change))
