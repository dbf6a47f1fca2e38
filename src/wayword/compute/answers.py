"""What a worker says of a job, whichever the engine: a result, a mistake of the user, a defect of ours."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from wayword.errors import WaywordError

WorkerAnswer = tuple[str, Any]


def answer_to(work: Callable[[Any], Any], job: Any) -> WorkerAnswer:
    """Do a job, in a worker; what is raised there must not end it, nor has it to be such that it can be sent."""
    try:
        return "result", work(job)
    except WaywordError as error:
        return "mistake", str(error)
    except Exception:
        return "defect", traceback.format_exc()


def result_of(answer: WorkerAnswer) -> Any:
    """The result, or the error in the words of the worker."""
    kind, content = answer
    if kind == "mistake":
        raise WaywordError(content)
    if kind == "defect":
        raise RuntimeError(f"in a worker:\n{content}")
    return content
