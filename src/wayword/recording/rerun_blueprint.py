"""How a recording opens in the Rerun viewer: everything in its place, nothing to arrange.

Left what the drone sees and how it is understood, in the middle the arena and the maps, right the words and numbers.
The same for every flight of a kind, so that many recordings can be opened side by side.
"""

from __future__ import annotations

import rerun as rr
import rerun.blueprint as rrb

from wayword.pictures.colours import PALETTE, STOPS, SUCCESS, TEXT, UNKNOWN_OBJECT, VISITS
from wayword.recording.rerun_scene import CAMERA

THINKING, PLAIN = "wayword", "wayword_plain"
"""Application ids: the viewer keeps one blueprint for each."""
_SCENE = ("+ /world/ground", "+ /world/boundary", "+ /world/objects/**", "+ /world/trail", "+ /world/demonstration")


def blueprint(thinking: bool, arena_m: float) -> rrb.Blueprint:
    """The layout for a policy that can say what it thinks, or for one that cannot."""
    parts = _thinking(arena_m) if thinking else _plain(arena_m)
    time = rrb.TimePanel(state="collapsed", timeline="step", fps=4)
    return rrb.Blueprint(parts, time, rrb.BlueprintPanel(state="hidden"), rrb.SelectionPanel(state="hidden"))


def _thinking(arena_m: float) -> rrb.Horizontal:
    views = rrb.Vertical(
        _picture("I_t, boxes with P(o | b) | P(b)", "boxes"),
        _picture("S(I, r; O), masks of the references", "masks/**"),
        _picture("S(I), mask of all objects", "all_objects"),
        rrb.BarChartView(origin="/align", name="ALIGN(b, r) by box"),
    )
    maps = rrb.Vertical(
        _arena(arena_m),
        rrb.Horizontal(
            _from_above("M^W, masks on the map", arena_m, "+ /world/map/references/**", "+ /world/map/unobserved"),
            _from_above(
                "d^p blue, d^g red", arena_m, "+ /world/map/d_p", "+ /world/map/d_g", "+ /world/map/unobserved"
            ),
        ),
        row_shares=[5, 4],
    )
    words = rrb.Vertical(
        rrb.TextDocumentView(origin="/instruction", name="Instruction"),
        rrb.Tabs(
            rrb.BarChartView(origin="/p_object_of_reference", name="P(o | r) by object"),
            rrb.TextDocumentView(origin="/boxes", name="Boxes"),
        ),
        _series("Commands", "/commands"),
        rrb.Tabs(
            _series("Intrinsic reward", "/rewards"),
            _series("P(not yet observed)", "/p_unobserved"),
            _series("Distance to the demonstration's end", "/distance_to_goal_m"),
        ),
        row_shares=[4, 3, 3, 3],
    )
    return rrb.Horizontal(views, maps, words, column_shares=[3, 5, 4])


def _plain(arena_m: float) -> rrb.Horizontal:
    views = rrb.Vertical(
        _picture("I_t"),
        rrb.TextDocumentView(origin="/instruction", name="Instruction"),
        _series("Commands", "/commands"),
        _series("Distance to the demonstration's end", "/distance_to_goal_m"),
    )
    return rrb.Horizontal(views, _arena(arena_m), column_shares=[2, 3])


def _picture(name: str, *layers: str) -> rrb.Spatial2DView:
    contents = [f"+ /{CAMERA}/{layer}" for layer in ("image", *layers)]
    # Below the picture there is room for the labels of boxes at its lower edge.
    bounds = rrb.VisualBounds2D(x_range=[-3, 131], y_range=[-2, 88]) if "boxes" in layers else None
    return rrb.Spatial2DView(origin=f"/{CAMERA}", contents=contents, name=name, visual_bounds=bounds)


def _arena(arena_m: float) -> rrb.Spatial3DView:
    middle = arena_m / 2
    eye = rrb.EyeControls3D(position=[middle, -1.5, 3.6], look_target=[middle, middle - 0.4, 0.0], eye_up=[0, 0, 1])
    hidden = ("- /world/map/**", f"- /{CAMERA}/masks/**", f"- /{CAMERA}/all_objects", f"- /{CAMERA}/boxes")
    contents = ["+ /world/**", *hidden, "+ /world/map/d_p", "+ /world/map/d_g"]
    return rrb.Spatial3DView(
        origin="/world", contents=contents, name="Arena", eye_controls=eye, line_grid=rrb.LineGrid3D(visible=False)
    )


def _from_above(name: str, arena_m: float, *layers: str) -> rrb.Spatial3DView:
    """A map: the arena from straight above, +x right and +y up."""
    middle = arena_m / 2
    eye = rrb.EyeControls3D(position=[middle, middle, 5.2], look_target=[middle, middle, 0.0], eye_up=[0, 1, 0])
    return rrb.Spatial3DView(
        origin="/world", contents=[*_SCENE, *layers], name=name, eye_controls=eye,
        line_grid=rrb.LineGrid3D(visible=False),
    )  # fmt: skip


def _series(name: str, origin: str) -> rrb.TimeSeriesView:
    return rrb.TimeSeriesView(origin=origin, name=name, plot_legend=rrb.PlotLegend(rrb.Corner2D.LeftBottom))


def log_styles(stream: rr.RecordingStream) -> None:
    """Names and colours of the lines in the plots."""
    for entity, (name, color) in _LINES.items():
        stream.log(entity, rr.SeriesLines(names=[name], colors=[color]), static=True)


_LINES = {
    "commands/forward_m_s": ("forward, m/s", VISITS),
    "commands/yaw_rate_rad_s": ("yaw rate, rad/s", PALETTE[2]),
    "commands/stop": ("stop", STOPS),
    "rewards/total": ("r", TEXT),
    "rewards/visitation": ("visitation", VISITS),
    "rewards/stop": ("stop", STOPS),
    "rewards/exploration": ("exploration", SUCCESS),
    "rewards/action": ("action", PALETTE[2]),
    "rewards/step": ("step", UNKNOWN_OBJECT),
    "p_unobserved/way": ("way, d^p", VISITS),
    "p_unobserved/goal": ("goal, d^g", STOPS),
    "distance_to_goal_m": ("m", SUCCESS),
}
