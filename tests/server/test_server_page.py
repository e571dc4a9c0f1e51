"""The page on which a model is tried, in a browser."""

from pathlib import Path
from typing import Any

import pandas as pd

from server.conftest import served

TOKEN = "correct-horse-battery-staple"
EVIL = "<img src=x onerror=alert(1)>"


def test_a_table_is_pasted_and_its_answers_and_a_series_are_seen(browser: Any, ward: Path, new: pd.DataFrame) -> None:
    table = new[new.patient.isin(["p000", "p001", "p002"])].replace("p001", EVIL).astype({"pulse": object})
    table.loc[table.patient == "p002", "pulse"] = "fast"
    with served(ward / "classifier", token=TOKEN) as (client, _):
        tab = browser.new_page(viewport={"width": 1280, "height": 800})
        told: list[str] = []
        tab.on("pageerror", lambda error: told.append(str(error)))
        tab.on("dialog", lambda dialog: told.append(dialog.message))
        tab.on("request", lambda request: None if "127.0.0.1" in request.url else told.append(request.url))
        tab.goto(f"http://127.0.0.1:{client.port}/")
        tab.fill("#token", "wrong-token-of-some-length")
        tab.click("#enter button")
        tab.wait_for_selector("#problem:has-text('token')")
        tab.fill("#token", TOKEN)
        tab.click("#enter button")
        tab.wait_for_selector("#ask:not([hidden])")
        assert "pulse, temperature" in tab.inner_text("#columns")
        tab.fill("#table", table.to_csv(index=False))
        tab.click("#send")
        tab.wait_for_selector("#picture svg")
        assert tab.inner_text("#counts").startswith("3 series, 2 ok, 1 without an answer.")
        assert tab.locator("#answers tbody tr").count() == 3
        assert "'fast'" in tab.inner_text("#reasons")
        tab.click("#answers tbody tr:nth-child(2)")
        tab.wait_for_selector(f"#picture h2:text-is('{EVIL}')")
        seen = table[table.patient == EVIL][["pulse", "temperature"]].notna().to_numpy().sum()
        assert tab.locator("#picture figure > svg circle").count() == seen
        for width in (1280, 360):
            tab.set_viewport_size({"width": width, "height": 800})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
        with tab.expect_download() as saved:
            tab.click("#save")
        assert len(pd.read_csv(saved.value.path())) == 3
        tab.fill("#table", "patient,hour\nann,0\n")
        tab.click("#send")
        tab.wait_for_selector("#problem:has-text('unknown static column')")
        tab.close()
    assert told == []


def test_an_example_is_put_in_and_a_file_is_sent(browser: Any, ward: Path, new: pd.DataFrame, tmp_path: Path) -> None:
    new.to_csv(tmp_path / "new.csv", index=False)
    with served(ward / "forecaster") as (client, _):
        tab = browser.new_page(viewport={"width": 1100, "height": 800})
        tab.goto(f"http://127.0.0.1:{client.port}/")
        tab.click("#example")
        tab.click("#send")
        tab.wait_for_selector("#picture svg")
        assert tab.inner_text("#counts").startswith("2 series, 2 ok.")
        tab.set_input_files("#file", tmp_path / "new.csv")
        tab.fill("#at", "50,60")
        tab.click("#send")
        tab.wait_for_selector("#answers tbody tr:nth-child(24)")
        tab.close()
