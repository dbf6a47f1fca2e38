"""What goes with flying: calibrate a camera, read a black box, fly the fault suite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from wayword.cli.common import progress_bar, say, say_aside
from wayword.cli.crew_options import CrewOptions
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAFETY = Path("docs/safety.md")
_MARKS = ("<!-- made by `wayword flight faults` -->", "<!-- end -->")


@dataclass(frozen=True)
class Calibrate:
    """Calibrate a camera from pictures or a video of a checkerboard.

    Show the whole board 10 to 30 times: near and far, tilted, and in every corner of the picture. For example:
    wayword flight calibrate board/*.jpg --corners 9 6 --out camera.json
    """

    sources: tyro.conf.Positional[tuple[str, ...]]
    """Pictures, or one video or stream."""
    corners: tuple[int, int] = (9, 6)
    """Inner corners of the board, across and down."""
    square: float = 0.025
    """Edge of one square in metres."""
    mount_pitch: float = 15.0
    """How many degrees the camera looks down from straight ahead, as mounted."""
    out: Path = Path("camera.json")
    """The camera file, for --camera."""

    def run(self) -> None:
        """Find corners, fit, choose the view, write."""
        from wayword.camera import Camera
        from wayword.flight.calibration import Calibration
        from wayword.flight.checkerboard import calibrate, find_views, need_opencv
        from wayword.flight.resample import Resampler, choose_view
        from wayword.io import check_target

        need_opencv()
        check_target(self.out)
        if not self.sources or min(self.corners) < 3 or not 0 < self.square < 10:
            raise WaywordError("give pictures or a video, --corners of at least 3 x 3 and --square in metres")
        views = find_views(_pictures(self.sources), self.corners)
        calibration: Calibration = calibrate(views, self.corners, self.square, self.mount_pitch)
        calibration = replace(calibration, view=choose_view(calibration))
        cover, view = Resampler(calibration).cover, calibration.view
        calibration.save(self.out)
        say(f"{len(views.corners)} of {views.looked_at} pictures used, error {calibration.error_px:.2f} pixels")
        whose = (
            "the one the policy was trained with" if view == Camera() else "the camera's own: it does not see the usual"
        )
        say(
            f"the view is {view.hfov_deg:g} degrees across and {view.mount_pitch_deg:g} down ({whose}); "
            f"{100 * cover:.0f} % of it is seen"
        )
        say(self.out)


def _pictures(sources: tuple[str, ...]) -> Iterator[NDArray[np.uint8]]:
    import io

    import numpy as np
    from PIL import Image

    from wayword.flight.video_stream import frames
    from wayword.guarded import read_bytes
    from wayword.objects.photos import MAX_FILE_BYTES, MAX_PIXELS

    if len(sources) == 1 and not sources[0].lower().endswith((".jpg", ".jpeg", ".png")):
        for number, (pixels, _) in enumerate(frames(sources[0])):
            if number % 10 == 0:
                yield pixels
            if number > 6000:
                return
        return
    for source in sources:
        data = read_bytes(source, MAX_FILE_BYTES, remedy="give pictures of the board, or a video")
        try:
            with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
                if picture.width * picture.height > MAX_PIXELS:
                    raise WaywordError(f"{source}: has more than {MAX_PIXELS // 10**6} million pixels")
                yield np.asarray(picture.convert("RGB"))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise WaywordError(f"{source}: is no picture that can be read") from error


@dataclass(frozen=True)
class Replay:
    """Read the black box of a flight: what happened, and whether the governor would do the same again."""

    box: tyro.conf.Positional[Path]
    """The black box (.box)."""
    all: bool = False
    """Print every intervention instead of the first twenty."""
    mcap: Path | None = None
    """Also write the flight for Foxglove and ROS 2, such as flight.mcap (docs/recordings.md)."""

    def run(self) -> None:
        """Read, govern again, print."""
        from wayword.flight.replay import govern_again, load_recording

        if self.mcap is not None:
            from wayword.recording.mcap_log import check_mcap, need_mcap

            need_mcap()
            check_mcap(self.mcap)
        recording = load_recording(self.box)
        about = recording.about
        say(f"{about.get('vehicle', 'a vehicle')}: {about.get('instruction', '')}")
        seconds = recording.ticks[-1][0].now_s - recording.started_s if recording.ticks else 0.0
        say(f"{len(recording.ticks)} ticks in {seconds:.1f} s, {len(recording.sights)} decisions")
        rows = list(recording.box.of("intervention"))
        for row in rows if self.all else rows[:20]:
            say(f"{row['now_s'] - recording.started_s:7.2f} s  {row['act']:8s} {', '.join(row['reasons']) or '-'}")
        if len(rows) > 20 and not self.all:
            say(f"... and {len(rows) - 20} more (--all)")
        end = recording.end
        say(f"ended: {end['ended']} ({', '.join(end['reasons'])})" if end else "no end: the process was killed")
        if recording.box.damaged:
            say(f"{recording.box.damaged} damaged records were left out")
        different = list(govern_again(recording))
        if different:
            number, recorded, now = different[0]
            say(f"today's governor differs at {len(different)} ticks, first at {number}: {recorded} then, {now} now")
        else:
            say("the governor gives the same commands again, to the bit")
        if self.mcap is not None:
            from wayword.recording.mcap_flights import box_to_mcap

            box_to_mcap(recording, self.mcap)
            say(self.mcap)


@dataclass(frozen=True)
class Faults(CrewOptions):
    """Fly the fault suite and randomised faulty flights in simulation; any failure is exit code 1.

    A tenth as many again are flown at each edge of the envelope: two jumps of the pose, a vehicle that overshoots.
    """

    count: int = 100
    """Randomised flights; 0 for the suite alone."""
    seed: int = 0
    """Flight i of a seed is always the same one."""
    workers: int | None = None
    """Workers, one core each; by default 1, and on a cluster all of its cores."""
    publish: bool = False
    """Write the tables into docs/safety.md."""

    def run(self) -> None:
        """Fly, check, print."""
        from wayword.flight.fault_flights import fly_faults
        from wayword.flight.fault_suite import cases
        from wayword.flight.faults import fault_table
        from wayword.flight.random_faults import EDGES, edge_report, report

        check_seed(self.seed)
        if self.count < 0:
            raise WaywordError(f"--count {self.count}: must be 0 or more")
        with progress_bar("flying", len(cases()) + self.count + self.count // 10 * len(EDGES)) as advance:
            flown = fly_faults(self.count, self.seed, self._crew(self.workers, usual=1), advance)
        results, flights, edges = flown.suite, flown.random, flown.edges
        text = fault_table(results) + (f"\n{report(flights)}" if flights else "")
        text += f"\n{edge_report(edges)}" if edges else ""
        say(text)
        if self.publish:
            command = f"wayword flight faults --count {self.count} --seed {self.seed} --publish"
            _insert(SAFETY, f"`{command}` makes these tables.\n\n{text}")
        problems = [f"{result.case.name}: {problem}" for result in results for problem in result.problems]
        problems += [f"flight {f.index}: left the fence by {-f.nearest_m:.2f} m" for f in flights if f.nearest_m < 0]
        problems += [
            f"flight {f.index}, {edge.name}: left the fence by {-f.nearest_m:.2f} m"
            for edge, f in edges
            if edge.holds and f.nearest_m < 0
        ]
        for problem in problems:
            say_aside(problem)
        if problems:
            raise SystemExit(1)


def _insert(page: Path, text: str) -> None:
    from wayword.io import write_text

    try:
        before, rest = page.read_text(encoding="utf-8").split(_MARKS[0], 1)
        after = rest.split(_MARKS[1], 1)[1]
    except (OSError, ValueError, IndexError) as error:
        raise WaywordError(f"{page}: not found, or without its marks; publish from the root of a clone") from error
    write_text(page, f"{before}{_MARKS[0]}\n\n{text}\n{_MARKS[1]}{after}")
