"""Jobs on Ray: what must be as it is on processes, what a node's death costs, and who could listen."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from support.light_work import killed_once, work
from support.shared_work import EPISODES
from wayword.compute import Crew, each, in_order
from wayword.compute.ray_engine import LOOPBACK, QUIET, environment
from wayword.episodes.instructions import write_dataset
from wayword.errors import WaywordError

pytestmark = [
    pytest.mark.needs_ray,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc"),
]
RAY = Crew(2, ray="local")


def test_jobs_are_done_by_others_and_end_as_they_do_on_processes(ray_of_five: None) -> None:
    done = list(each(work, range(7), RAY))
    assert os.getpid() not in {pid for pid, _ in done}
    assert {threads for _, threads in done} == {"1"}
    with pytest.raises(WaywordError, match=r"^weights/config.json:3: is damaged; train again$"):
        list(each(work, [0, 100], RAY))
    with pytest.raises(RuntimeError, match=r"(?s)in work.*ZeroDivisionError: ours"):
        list(each(work, [0, 200, 1], RAY))


def test_what_a_killed_worker_had_is_done_again(ray_of_five: None, tmp_path: Path) -> None:
    assert list(in_order(partial(killed_once, tmp_path), range(6), RAY)) == [0, 1, 4, 9, 16, 25]
    assert (tmp_path / "died").exists()
    with pytest.raises(WaywordError, match="lost more often"):
        list(each(work, [0, 300], Crew(2, ray="local", retries=0)))


def test_nothing_listens_beyond_loopback(ray_of_five: None) -> None:
    list(each(work, range(2), RAY))
    places = [place for process in family(os.getpid()) for place in listening(process)]
    assert len(places) >= 3  # the store of the cluster's state, the node, workers
    assert set(places) == {"127.0.0.1"}


def test_a_killed_command_leaves_nobody_behind() -> None:
    code = "import time; from wayword.compute import *; list(each(time.sleep, [600, 600], Crew(2, ray='local')))"
    parent = subprocess.Popen([sys.executable, "-c", code])
    wait_until(lambda: len(family(parent.pid)) >= 6, 180)
    everybody = family(parent.pid)
    parent.kill()
    parent.wait()
    wait_until(lambda: not any(alive(process) for process in everybody), 120)


def test_a_cluster_that_is_not_there_is_one_line() -> None:
    code = "from wayword.compute import *; list(each(abs, [1, 2], Crew(2, ray='127.0.0.1:1')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip().splitlines()[-1].endswith("--ray 127.0.0.1:1: nobody answers there (Connection refused)")


def test_a_node_that_dies_costs_its_unfinished_jobs_only(tmp_path: Path) -> None:
    write_dataset(EPISODES, tmp_path / "alone.jsonl", workers=1)
    with environment(QUIET | LOOPBACK):
        import ray
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        node = cluster.add_node(num_cpus=1)
    left: list[int] = []

    def kill_a_node(count: int) -> None:
        if count and not left:
            left.append(EPISODES.count - count)
            cluster.remove_node(node, allow_graceful=False)

    try:
        assert cluster.address.startswith("127.0.0.1")
        write_dataset(EPISODES, tmp_path / "two.jsonl", workers=Crew(2, cluster.address), progress=kill_a_node)
        assert left == [130]  # one job of five was done, so at least one other was under way
        assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "alone.jsonl").read_bytes()
        # Ray may notice a missing node only after the others have done its work: its health is asked for now and then.
        wait_until(lambda: sum(node["Alive"] for node in ray.nodes()) == 1, 120)
    finally:
        ray.shutdown()
        cluster.shutdown()


def wait_until(condition, seconds: float) -> None:  # type: ignore[no-untyped-def]
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


def family(pid: int) -> list[int]:
    """A process and all that come from it."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [pid, *(each for child in children for each in family(child))]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def listening(pid: int) -> list[str]:
    """Addresses on which a process listens."""
    sockets = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            sockets.add(os.readlink(link))
        except OSError:
            continue
    places = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                raw = bytes.fromhex(fields[1].split(":")[0])[-4:][::-1]  # the last word, in this machine's byte order
                places.append(".".join(map(str, raw)))
    return places
