"""A flight while it is flown and when it is over: its plan with verdicts, the timeline, files to take home."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from wayword.errors import WaywordError
from wayword.pilot.verdict import Verdict
from wayword.studio.abreast import NextLeg
from wayword.studio.downloads import FILES, take_home
from wayword.studio.fly_tab import FlyTab, by_visitor
from wayword.studio.kept_flight import StudioStep, moment_of, seconds_of
from wayword.studio.plan_panel import PlanPanel
from wayword.studio.player import pose_at
from wayword.studio.screen import Screen
from wayword.studio.session import Session
from wayword.studio.words import message_html


class Afterwards:
    """Keeps the legs of the last flight and shows any moment of it."""

    def __init__(
        self,
        client: Any,
        tab: FlyTab,
        plan: PlanPanel,
        session: Session,
        screen: Screen,
        say: Callable[[str, str], None],
    ) -> None:
        self._client, self._tab, self._plan, self._session = client, tab, plan, session
        self._screen, self._say = screen, say
        self._legs: list[StudioStep] = []
        self._beside: Session | None = None
        self._taking = threading.Lock()
        self.telemetry = ""
        """The leg that is shown, in a few words."""
        tab.time.on_update(by_visitor(lambda event: self._scrub(float(event.target.value))))
        tab.take.on_click(lambda event: self._take(event.target.value))

    def record(self, next_leg: NextLeg, beside: Session | None) -> NextLeg:
        """Legs of a new flight, kept as they come."""
        self.forget()
        self._beside, legs = beside, self._legs

        def record_next() -> StudioStep:
            legs.append(next_leg())
            return legs[-1]

        return record_next

    def replay(self) -> NextLeg:
        """The legs of the last flight once more."""
        if not self._legs:
            raise WaywordError("nothing has been flown yet; press Fly")
        again = iter(self._legs)
        return lambda: next(again)

    def forget(self) -> None:
        """Another flight or layout: there is nothing to look back at."""
        self._legs, self._beside, self.telemetry = [], None, ""
        self._tab.flown.visible = False

    def show_leg(self, leg: StudioStep) -> None:
        """What is thought and done in half a second."""
        understood = self._session.understood
        self._screen.show_words(leg, self._session)
        if understood is not None and leg.doing is not None:
            self._plan.show_doing(understood, leg.doing)
        self.telemetry = f"{leg.time_s:.1f} s, {_decision(leg)}"

    def show_end(self, leg: StudioStep | None, problem: Exception | None) -> None:
        """What came of it, and all that can be done with it now."""
        if problem is not None:
            self._say(f"the flight ended: {problem}", "problem")
        elif leg is None or leg.verdict is None:
            self._say("stopped by you", "note")
        else:
            kind = "note" if leg.success is None else "good" if leg.success else "problem"
            self._say(headline(leg.verdict), kind)
            self._show_verdict(leg)
        if self._legs:
            seconds = max(seconds_of(self._legs), 0.1)
            self._tab.time.max, self._tab.time.value = seconds, seconds
            self._tab.flown.visible = True
            if leg is None:  # stopped on the way: the drone stands where its last decision took it
                last = self._legs[-1]
                self._screen.show_pose(last, last.poses[-1], 1.0, at_once=True)

    def _show_verdict(self, leg: StudioStep) -> None:
        session, beside, other = self._session, self._beside, leg.beside
        if session.understood is None or leg.verdict is None:
            return
        judged = [("What came of it", session.understood, leg.verdict)]
        if beside is not None and beside.understood is not None and other is not None and other.verdict is not None:
            title = session.workshop.policies[beside.choices.policy]
            judged.append((f"Beside it, in blue: {title}", beside.understood, other.verdict))
        self._plan.show_verdicts(judged)

    def _scrub(self, time_s: float) -> None:
        """Show one moment: view, map, words and P(o | b)."""
        if not self._legs:
            return
        leg, share = moment_of(self._legs, time_s)
        self.show_leg(leg)
        if leg is self._legs[-1]:
            self._show_verdict(leg)
        self._screen.show_pose(leg, pose_at(leg.poses, share), share, at_once=True)
        line = f"at {time_s:.1f} s of {seconds_of(self._legs):.1f} s; {_decision(leg)}"
        self._tab.status.content = message_html(line)

    def _take(self, what: str) -> None:
        """Send a file to the browser."""
        flight = self._session.flight
        with self._taking:
            try:
                if flight is None or what not in FILES:
                    raise WaywordError("nothing has been flown yet; press Fly")
                self._say(f"{what}: being made ...", "note")
                content = take_home(flight, what)
                self._client.send_file_download(FILES[what], content, save_immediately=True)
                self._say(f"{what}: {FILES[what]}, {len(content) / 2**20:.1f} MB, is in your downloads", "good")
            except WaywordError as error:
                self._say(str(error), "problem")


def _decision(leg: StudioStep) -> str:
    forward, turn = leg.action[:2]
    return f"decision {leg.number + 1}: {forward:.2f} m/s, {turn:+.2f} rad/s"


def headline(verdict: Verdict) -> str:
    """What came of a flight, without the parts that stand in the plan."""
    parts = "; ".join(part.words for part in verdict.parts)
    return verdict.outcome.replace(f": {parts}", "", 1) if parts else verdict.outcome
