"""Nothing is sent, and nothing is kept, that nobody asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_OPENS_A_NETWORK = """
import sys
from pathlib import Path
import wayword
from wayword.grounding.backend import open_session
open_session(Path(wayword.__file__).parent / "policy" / "weights" / "fspvn" / "control.onnx")
"""


def test_the_runtime_of_the_networks_keeps_no_record_of_its_use(tmp_path: Path) -> None:
    """Its database, from which it reports, is made when it is imported; in an empty home nothing may appear."""
    without = {key: value for key, value in os.environ.items() if not key.startswith(("ORT_", "XDG_"))}
    subprocess.run([sys.executable, "-c", _OPENS_A_NETWORK], env={**without, "HOME": str(tmp_path)}, check=True)
    assert [path for path in tmp_path.rglob("*") if "onnxruntime" in path.name.lower()] == []


def test_whoever_wants_reports_can_have_them() -> None:
    command = [sys.executable, "-c", "import wayword, os; print(os.environ['ORT_DISABLE_TELEMETRY'])"]
    for value, shown in (("0", "0"), (None, "1")):
        environment = {key: v for key, v in os.environ.items() if key != "ORT_DISABLE_TELEMETRY"}
        environment |= {"ORT_DISABLE_TELEMETRY": value} if value else {}
        assert (
            subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip() == shown
        )
