"""``wayword studio``: a live page in the browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wayword.cli.common import say
from wayword.shipped import DEFAULT_GROUNDER


@dataclass(frozen=True)
class StudioVerb:
    """Open a live page in the browser: type an instruction, watch the drone think and fly, teach it new objects.

    Only this machine can open it, unless --host and --token let others in. Ctrl-C ends it.
    """

    host: str = "127.0.0.1"
    """The address to listen on; any other than a loopback address needs --token."""
    port: int = 8080
    """The port; the next free one if it is in use."""
    token: str | None = None
    """What others must know to open the page: at least 16 letters and digits."""
    db: Path = Path("out/studio-objects")
    """The folder of the object database that the Teach tab saves to; it is made when something is saved."""
    weights: Path | None = None
    """A folder of trained weights instead of those that ship."""
    grounder: str = DEFAULT_GROUNDER
    """The segmentation's weights: shipped ones by name, or a folder, as for `wayword fly`."""
    camera: Path | None = None
    """Another camera than the one it was trained with, as for `wayword fly`."""

    def run(self) -> None:
        """Serve until interrupted."""
        from wayword.camera import open_camera
        from wayword.grounding.weight_files import find_weights
        from wayword.pilot.pilot import refuse_shipped

        find_weights(self.grounder)
        refuse_shipped(self.db)  # what is taught on the page is saved there; it knows those that ship anyhow
        from wayword.studio.server import Studio as Server

        server = Server(
            self.db, self.host, self.port, self.token, self.weights, open_camera(self.camera), self.grounder
        )
        say(f"open {server.address}")
        say("Ctrl-C ends it")
        try:
            server.wait()
        finally:
            server.stop()
