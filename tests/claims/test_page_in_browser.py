"""The page of results in a browser, for every reader and device."""

import gzip
import shutil
from pathlib import Path

import pytest

from support.page import SAYS

CONTRAST = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = (element) => {
    const colour = rgb(getComputedStyle(element).backgroundColor);
    return colour[3] === 0 ? ground(element.parentElement) : colour;
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !element.checkVisibility()) continue;
    const [a, b] = [light(rgb(getComputedStyle(element).color)), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${element.outerHTML.slice(0, 80)}: ${ratio}`);
  }
  return poor;
}"""


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: make .venv/ready-dev"
    )
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("needs chromium on the PATH (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"], timeout=0
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, path):
    """Opens the page; at the end nothing may have complained or been asked of a network."""
    contexts, complaints = [], []

    def visit(address="", **options):
        context = browser.new_context(**options)
        context.set_default_timeout(0)  # a busy machine takes its time
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: complaints.append(request.url) if is_remote(request.url) else None,
        )
        page.goto(path.as_uri() + address)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not complaints


def is_remote(url):
    return not url.startswith(("file:", "data:", "blob:"))


def claims_shown(page):
    bodies = page.locator("#claims-table > tbody:not([hidden])").all()
    return [body.get_attribute("id") for body in bodies]


def address(page):
    return page.evaluate("decodeURIComponent(location.hash)")


def test_filters_and_search(visit):
    page = visit()
    assert len(claims_shown(page)) == len(SAYS)
    page.select_option("[name=paper]", "pal2020")
    assert page.inner_text("#count") == "3 of 6 claims"
    page.select_option("[name=verdict]", "refuted")
    assert claims_shown(page) == ["pal2020/theorem_10"]
    assert address(page) == "#?paper=pal2020&verdict=refuted"
    page.fill("[name=q]", "nowhere")
    assert page.is_visible("#nothing")
    page.click("#all")
    assert len(claims_shown(page)) == len(SAYS)
    page.select_option("[name=kind]", "figure")
    assert claims_shown(page) == ["steck2020/absent"]
    page.click("[type=reset]")
    page.check("[name=errata]")
    assert claims_shown(page) == ["pal2020/theorem_2"]
    page.click("[type=reset]")
    page.fill("[name=q]", "RATIO bound")
    assert claims_shown(page) == ["pal2020/theorem_10"]


def test_an_address_keeps_filter_and_order(visit):
    page = visit("#?paper=pal2020&sort=-where")
    expected = ["pal2020/theorem_10", "pal2020/theorem_2", "pal2020/theorem_1"]
    assert claims_shown(page) == expected
    assert page.input_value("[name=paper]") == "pal2020"
    for _ in range(2):
        page.click(".tiles >> text=refuted")
        # the browser tells of a new address after the click
        page.locator("[id='pal2020/theorem_2']").wait_for(state="hidden")
        page.locator("[id='pal2020/theorem_10']").wait_for()
        assert claims_shown(page) == ["pal2020/theorem_10"]
        page.fill("[name=q]", "a & b + c")
        page.wait_for_function("location.hash.includes('q=')")
        page.reload()
        assert page.input_value("[name=q]") == "a & b + c"
        page.evaluate("location.hash = '?kind=figure'")
        page.locator("[id='steck2020/absent']").wait_for()


def test_columns_sort_by_button(visit):
    page = visit()
    where = page.locator("th[data-key=where]")
    where.locator("button").click()
    assert where.get_attribute("aria-sort") == "ascending"
    assert [name.split("/")[1] for name in claims_shown(page)] == [
        *("absent", "generated", "rows"),
        *("theorem_1", "theorem_2", "theorem_10"),
    ]
    where.locator("button").press("Enter")
    assert where.get_attribute("aria-sort") == "descending"
    assert claims_shown(page)[0] == "pal2020/theorem_10"
    page.click("th[data-key=verdict] button")
    assert where.get_attribute("aria-sort") is None
    assert claims_shown(page)[0] == "pal2020/theorem_1"
    page.click("th[data-key=memory] button")
    page.click("th[data-key=memory] button")
    assert page.locator("#costs tbody td").first.inner_text() == "fit"


def test_a_claim_opens_by_click_and_by_key(visit):
    page = visit()
    evidence = page.locator("[id='pal2020/theorem_1'] .evidence")
    assert not evidence.is_visible()
    page.click("text=Every descent ends")
    assert evidence.is_visible()
    link = page.locator("[id='pal2020/theorem_1'] .open")
    assert link.get_attribute("aria-expanded") == "true"
    link.press("Enter")
    assert not evidence.is_visible()
    page.click("[id='pal2020/theorem_1'] .tells")
    evidence.locator(".thumb").click()
    assert page.inner_text("#zoom-title") == "Pal 2020, Title of pal2020_fig1"


def test_a_claim_opens_by_its_address(visit):
    page = visit("#pal2020/theorem_2")
    evidence = page.locator("[id='pal2020/theorem_2'] .evidence")
    assert evidence.is_visible()
    assert "gap as corrected" in evidence.inner_text()
    assert "The rank of most matrices is meant." in evidence.inner_text()
    page.select_option("[name=paper]", "steck2020")
    page.click("#E7 summary")
    page.click("#E7 details a")
    evidence.wait_for()


def test_zoom_by_keyboard(visit):
    page = visit()
    opener = page.locator("#data_tails .zoom")
    opener.focus()
    page.keyboard.press("Enter")
    assert page.is_visible("dialog")
    assert page.evaluate("document.querySelector('.natural img').naturalWidth") == 1350
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#zoom-title") == "Pal 2020, Title of pal2020_fig1"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#zoom-title") == "Pal 2020, Title of pal2020_fig3"
    page.click("#fit")
    page.keyboard.press("Escape")
    assert not page.is_visible("dialog")
    assert opener.evaluate("element => element === document.activeElement")


@pytest.mark.parametrize("script", [True, False])
def test_downloads_are_the_bytes_of_the_files(visit, path, script):
    page = visit(java_script_enabled=script)
    with page.expect_download() as started:
        page.click("#pal2020_fig1 a.csv")
    download = started.value
    content = Path(download.path()).read_bytes()
    assert download.suggested_filename == ("pal2020_fig1.csv" if script else "pal2020_fig1.csv.gz")
    expected = (path.parents[1] / "figures" / "pal2020_fig1.csv").read_bytes()
    assert (content if script else gzip.decompress(content)) == expected


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_readable_in_every_scheme_and_width(visit, scheme, width):
    page = visit(color_scheme=scheme, viewport={"width": width, "height": 740})
    for link in page.locator(".open").all():
        link.click()
    page.eval_on_selector_all("details", "all => all.forEach((one) => { one.open = true; })")
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".zoom").first.click()
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_printed_page_shows_what_is_wrong(visit):
    page = visit()
    page.emulate_media(media="print")
    assert page.is_visible("[id='pal2020/theorem_2'] .evidence")
    assert page.is_visible("[id='pal2020/theorem_10'] .evidence")
    assert not page.is_visible("[id='pal2020/theorem_1'] .evidence")
    for control in ("#filter", "nav", ".csv", ".skip"):
        assert not page.locator(control).first.is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_without_script_an_address_opens_a_claim(visit):
    page = visit("#pal2020/theorem_2", java_script_enabled=False)
    assert page.is_visible("[id='pal2020/theorem_2'] .evidence")
    assert not page.is_visible("[id='pal2020/theorem_1'] .evidence")
    assert not page.is_visible("#filter")


def test_order_of_the_keyboard(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
