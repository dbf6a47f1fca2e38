"""The questionnaire in a real browser."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.extras import chromium
from support.judge_data import small_study
from wayword.episodes import Example
from wayword.judge.answers import read_answers
from wayword.judge.server import JudgeServer, ServeConfig
from wayword.judge.study import Study
from wayword.sim.render.bank import MeshBank

pytestmark = pytest.mark.needs_browser


PATIENCE_MS = 900_000
"""A busy machine is slow; a test that waits this long has failed."""


def expect(locator: Any) -> Any:
    """Playwright's patient assertions."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE_MS)
    return expect(locator)


def new_page(context: Any) -> Any:
    """A page that waits for conditions as long as it takes."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    return page


@pytest.fixture(scope="module")
def browser(driver: Any) -> Iterator[Any]:
    browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"], timeout=PATIENCE_MS)
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
    page, errors = new_page(context), list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.add_init_script("window.requestAnimationFrame = () => 0")  # the flight stands still at its start
    page.goto((folder / "pages" / f"{rater}.html").as_uri())
    assert page.is_disabled("#start")  # not without consent
    page.check("#agree")
    page.click("#start")
    page.check("input[name=goal][value='2']")
    page.click("text=Save and next")
    expect(page.locator("#missing")).to_contain_text("path score")
    page.check("input[name=path][value='2']")
    page.click("text=Save and next")
    expect(page.locator("#missing")).to_contain_text("watch the flight")
    judge_one(page, 2, 3, "ambiguous")
    judge_one(page, 5, 4)
    page.close()  # a closed tab loses nothing
    page = new_page(context)
    page.goto((folder / "pages" / f"{rater}.html").as_uri())
    expect(page.locator("#place")).to_contain_text("Flight 3 of 5")
    page.click("#back")
    assert page.is_checked("input[name=goal][value='5']")
    judge_one(page, 1, 4)  # a change of mind
    for _ in sheet[2:]:
        judge_one(page, 3, 3)
    expect(page.locator("#done")).to_contain_text("all 5 flights")
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
    page = new_page(browser.new_context())
    page.goto(link)
    page.check("#agree")
    page.click("#start")
    expect(page.locator("#time")).to_have_js_property("value", "1000")  # plays to its end
    judge_one(page, 2, 3)
    status = page.locator("#saved")
    expect(status).to_have_text("All answers are saved.")
    page.context.set_offline(True)
    judge_one(page, 4, 5)
    expect(status).to_contain_text("Not sent yet: 1.")
    assert len(read_answers(folder, study)[0]) == 1
    page.context.set_offline(False)  # the page notices by itself
    expect(status).to_have_text("All answers are saved.")
    assert {item: a.goal for (_, item), a in read_answers(folder, study)[0].items()} == {sheet[0]: 2, sheet[1]: 4}
    elsewhere = new_page(browser.new_context())  # another computer goes on where this one was
    elsewhere.goto(link)
    expect(elsewhere.locator("#place")).to_have_text("Flight 3 of 5")
    server.shutdown()
    server.server_close()
    thread.join()


def test_damaged_storage_does_not_stop_the_page(browser: Any, made: tuple[Path, Study]) -> None:
    folder, study = made
    rater = next(iter(study.sheets))
    page = new_page(browser.new_context())
    page.add_init_script(f"localStorage.setItem('wayword-judge-{study.id}-{rater}', {json.dumps('{broken')})")
    page.goto((folder / "pages" / f"{rater}.html").as_uri())
    page.check("#agree")
    page.click("#start")
    expect(page.locator("#place")).to_contain_text("Flight 1 of 5")
