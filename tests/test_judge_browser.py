"""The questionnaire in a real browser; skipped where there is none (pip install playwright, and a Chromium)."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judge_data import small_study
from wayword.episodes import Example
from wayword.judge.answers import read_answers
from wayword.judge.server import JudgeServer, ServeConfig
from wayword.judge.study import Study
from wayword.sim.render.bank import MeshBank

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def made(tmp_path: Path, dev_pairs: list[Example], bank: MeshBank) -> tuple[Path, Study]:
    return tmp_path / "study", small_study(tmp_path / "study", dev_pairs[:2], bank)


def judge_one(page: Any, goal: int, path: int, problem: str | None = None) -> None:
    page.evaluate("const t = document.getElementById('time'); t.value = 1000; t.dispatchEvent(new Event('input'))")
    page.check(f"input[name=goal][value='{goal}']")
    page.check(f"input[name=path][value='{path}']")
    if problem:
        page.check(f"input[name=problem][value='{problem}']")
    page.click("text=Save and next")


def test_static_page_keeps_answers_and_hands_them_over(browser: Any, made: tuple[Path, Study], tmp_path: Path) -> None:
    folder, study = made
    rater, sheet = next(iter(study.sheets.items()))
    context = browser.new_context(accept_downloads=True, reduced_motion="no-preference")
    page, errors = context.new_page(), list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.add_init_script("window.requestAnimationFrame = () => 0")  # the flight stands still at its start
    page.goto((folder / "pages" / f"{rater}.html").as_uri())
    assert page.is_disabled("#start")  # not without consent
    page.check("#agree")
    page.click("#start")
    page.check("input[name=goal][value='2']")
    page.click("text=Save and next")
    assert "path score" in page.inner_text("#missing")
    page.check("input[name=path][value='2']")
    page.click("text=Save and next")
    assert "watch the flight" in page.inner_text("#missing")
    judge_one(page, 2, 3, "ambiguous")
    judge_one(page, 5, 4)
    page.close()  # a closed tab loses nothing
    page = context.new_page()
    page.goto((folder / "pages" / f"{rater}.html").as_uri())
    assert "Flight 3 of 5" in page.inner_text("#place")
    page.click("#back")
    assert page.is_checked("input[name=goal][value='5']")
    judge_one(page, 1, 4)  # a change of mind
    for _ in sheet[2:]:
        judge_one(page, 3, 3)
    assert "all 5 flights" in page.inner_text("#done")
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(tmp_path / "sent.json")
    found, _ = read_answers(folder, study, [tmp_path / "sent.json"])
    assert [(found[rater, name].goal, found[rater, name].problem) for name in sheet] == [
        (2, "ambiguous"), (1, "none"), (3, "none"), (3, "none"), (3, "none")]  # fmt: skip
    assert errors == []
    context.close()


def test_served_page_sends_answers_also_after_a_break(browser: Any, made: tuple[Path, Study]) -> None:
    folder, study = made
    rater, sheet = next(iter(study.sheets.items()))
    server = JudgeServer(folder, ServeConfig(port=0, token="open-sesame"))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    link = next(link for link in server.links if rater in link)
    page = browser.new_context().new_page()
    page.goto(link)
    page.check("#agree")
    page.click("#start")
    playwright.expect(page.locator("#time")).to_have_js_property("value", "1000", timeout=20_000)  # plays to its end
    judge_one(page, 2, 3)
    status = page.locator("#saved")
    playwright.expect(status).to_have_text("All answers are saved.")
    page.context.set_offline(True)
    judge_one(page, 4, 5)
    playwright.expect(status).to_contain_text("Not sent yet: 1.")
    assert len(read_answers(folder, study)[0]) == 1
    page.context.set_offline(False)  # the page notices by itself
    playwright.expect(status).to_have_text("All answers are saved.", timeout=15_000)
    assert {item: a.goal for (_, item), a in read_answers(folder, study)[0].items()} == {sheet[0]: 2, sheet[1]: 4}
    elsewhere = browser.new_context().new_page()  # another computer goes on where this one was
    elsewhere.goto(link)
    playwright.expect(elsewhere.locator("#place")).to_have_text("Flight 3 of 5")
    server.shutdown()
    server.server_close()
    thread.join()


def test_damaged_storage_does_not_stop_the_page(browser: Any, made: tuple[Path, Study]) -> None:
    folder, study = made
    rater = next(iter(study.sheets))
    page = browser.new_context().new_page()
    page.add_init_script(f"localStorage.setItem('wayword-judge-{study.id}-{rater}', {json.dumps('{broken')})")
    page.goto((folder / "pages" / f"{rater}.html").as_uri())
    page.check("#agree")
    page.click("#start")
    assert "Flight 1 of 5" in page.inner_text("#place")
