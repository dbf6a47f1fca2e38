"""What was understood, on the page: the plan, the sentence in colour, P(o | r), and what could be taught."""

from __future__ import annotations

from wayword.pilot.verdict import Verdict
from wayword.studio.fly_tab import FlyTab
from wayword.studio.understood import Understanding
from wayword.studio.words import instruction_html, plan_html, references_html


class PlanPanel:
    """Before take-off, in the air and afterwards the same list."""

    def __init__(self, tab: FlyTab) -> None:
        self._tab = tab
        self.names: tuple[str, ...] = ()
        """What the buttons below the plan offer to teach."""

    def show(self, understood: Understanding) -> None:
        """What will be flown, and what is unknown."""
        tab = self._tab
        tab.plan.content = plan_html(understood.parts, "Understood")
        self.names = understood.unknown
        for number, button in enumerate(tab.unknown):
            button.visible = number < len(self.names)
            if number < len(self.names):
                button.label = f"I don't know {self.names[number]}: teach it"
        tab.words.content = instruction_html(understood.parsed)
        tab.references.content = references_html(understood.parsed)

    def show_doing(self, understood: Understanding, doing: int | None) -> None:
        """Which part is in the air."""
        self._tab.plan.content = plan_html(understood.parts, "Understood", doing)

    def show_verdicts(self, judged: list[tuple[str, Understanding, Verdict]]) -> None:
        """What came of it, for each who has flown: a title, how it took the sentence, what is said about it."""
        pages = [plan_html(understood.judged(verdict), title) for title, understood, verdict in judged]
        self._tab.plan.content = "".join(pages)
