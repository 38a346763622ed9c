"""The page of results: all of a run in one file that loads nothing, for every reader and device."""

import base64
import gzip
import re
import runpy
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from matplotlib import pyplot as plt

from lindrop.claims.check_files import write_checks
from lindrop.claims.checks import CORRECTED, at_most, equal
from lindrop.claims.evidence import asked, shown
from lindrop.claims.maths import typeset
from lindrop.claims.media import caption_of, paper_of, pieces
from lindrop.claims.page import duration
from lindrop.claims.provenance import costs, provenance
from lindrop.papers.steck2020.beside import beside
from support.repository import REPOSITORY

TEMPLATES = REPOSITORY / "workflow" / "lindrop" / "templates"
PUBLISHED = REPOSITORY / "config" / "paper_values" / "steck2020_table1.yaml"
NASTY = "<script>window.hit = 1</script> & 'quotes'"
CHECKS = {
    "pal2020": [
        equal("theorem_1", "distance to the optimum", 1e-12),
        equal("theorem_2", "gap as printed", 0.25),
        equal("theorem_2", "gap as corrected", 0.0, form=CORRECTED),
        at_most("theorem_10", "ratio to the bound", 3.0, 1.0),
    ],
    "steck2020": [
        at_most("rows", NASTY, 0.3, 0.4, data="other"),
        at_most("generated", "on the demo", 0.3, 0.4, data="synthetic"),
    ],
}
CLAIMS = {  # says, checks, and what else a claim has
    "pal2020": {
        "theorem_1": ("Every descent ends at the optimum.", {"figures": ["pal2020_fig1", "gone"]}),
        "theorem_2": ("The bound is tight.", {}),
        "theorem_10": ("Noise has a rank.", {}),
    },
    "steck2020": {
        "rows": (f"Row 5 wins. {NASTY}", {"tables": ["steck2020_table1"]}),
        "generated": ("Row 5 wins on the paper's data.", {"run": "config/paper.yaml"}),
        "absent": ("A deep network does it, too.", {"kind": "figure", "run": "make deep"}),
    },
}
SAYS = [says for claims in CLAIMS.values() for says, _ in claims.values()]
ERRATUM = {"where": "Theorem 2", "printed": "ρ = r", "corrected": "ρ < r", "checks": ["theorem_2"]}
TABLE1 = """dataset,model,row,metric,mean,stderr,n_users,paper,params
demo,edlae,5,ndcg@100,0.51849,0.002,100,,rank=150 p=0.2 λ=300
ml,edlae,5,ndcg@100,0.4198,0.001,100,0.42,rank=1000
ml,cdae,baseline,ndcg@100,0.4175,0.001,100,0.418,λ=0.1
"""
BENCHMARK = "s\th:m:s\tmax_rss\tcpu_time\n{}\t0:00:01\t{}\t{}\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def claims_file(folder, paper):
    plain = {"where": "Theorem 1", "kind": "theorem", "tolerance": 10}
    claims = {
        name: plain | {"where": name.replace("_", " "), "says": says, "checks": [name]} | more
        for name, (says, more) in CLAIMS[paper].items()
    }
    content = {"title": f"On {paper}", "authors": "A. Author", "venue": "Somewhere 2020"}
    errata = {"E7": ERRATUM} if paper == "pal2020" else {}
    text = yaml.safe_dump(content | {"claims": claims, "errata": errata}, sort_keys=False)
    return write(folder / f"{paper}.yaml", text)


def drawing(results, name):
    png = results / "figures" / f"{name}.png"
    png.parent.mkdir(parents=True, exist_ok=True)
    plt.imsave(png, np.full((600, 1350), sum(name.encode()) % 256), vmin=0, vmax=255)
    write(png.with_suffix(".csv"), f"{name}\n" + "1.5\n" * 1000)
    return png


def a_run(folder):
    """What the script gets after a small run."""
    results = folder / "results"
    for paper, checks in CHECKS.items():
        for claim in {check.claim for check in checks}:
            write_checks(results / "experiments" / paper / f"{claim}.json", paper, claim, checks)
    write(results / "benchmarks" / "fit" / "demo" / "a.tsv", BENCHMARK.format(100, 20.5, 50))
    write(results / "benchmarks" / "fit" / "demo" / "b.tsv", BENCHMARK.format(1, 500.0, 3))
    write(results / "benchmarks" / "fast.tsv", BENCHMARK.format(0.1, "-", "NA"))
    shown = [drawing(results, name) for name in ("data_tails", "pal2020_fig1", "pal2020_fig3")]
    table = write(results / "tables" / "steck2020_table1.csv", TABLE1).with_suffix(".html")
    config = {"seed": 7, "datasets": {"demo": {"source": {"format": "synthetic"}}}}
    inputs = SimpleNamespace(
        claims=[claims_file(folder / "claims", paper) for paper in CLAIMS],
        schema=REPOSITORY / "workflow" / "lindrop" / "schemas" / "claims.schema.yaml",
        captions=[write(folder / "pal2020_fig1.rst", "The ``gain`` of\n<b>it</b>.")],
        paper=PUBLISHED,
        templates=[str(TEMPLATES / "page.html.j2")],
    )
    titles = {str(file): f"Title of {file.stem}" for file in (*shown, table)}
    return SimpleNamespace(
        input=inputs,
        params=SimpleNamespace(titles=titles, config=yaml.safe_dump(config)),
        output=[str(results / "report" / "index.html")],
        log=[str(folder / "page.log")],
    )


def made(folder):
    """The page of a small run."""
    job = a_run(folder)
    runpy.run_path(
        str(REPOSITORY / "workflow" / "scripts" / "report_page.py"), init_globals={"snakemake": job}
    )
    return Path(job.output[0])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return made(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def html(path):
    return path.read_text(encoding="utf-8")


def test_every_claim_and_erratum_is_on_the_page(html):
    assert html.count('<tr class="claim">') == len(SAYS)
    for says in SAYS:
        assert says.partition(" <")[0].replace("'", "&#39;") in html
    assert 'id="E7"' in html
    assert "ρ &lt; r" in html
    assert "To run it: make deep" in html


def test_only_the_time_differs_between_two_pages(html, tmp_path):
    again = made(tmp_path).read_text(encoding="utf-8")
    time = r"[\d-]+ [\d:]+ UTC"
    assert re.sub(time, "", again) == re.sub(time, "", html)


def test_texts_are_escaped(html):
    assert "<script>window" not in html
    assert html.count("<script>") == 1
    assert "&lt;script&gt;window.hit" in html


def test_nothing_is_loaded(html):
    for target in re.findall(r'(?:src|href)\s*=\s*"([^"]*)"', html):
        assert target.startswith(("data:", "#")), target[:80]
    assert not re.search(r"url\(|@import|<link|<iframe", html)


def test_a_figure_is_embedded_once(path, html):
    for figure in (path.parents[1] / "figures").glob("*.png"):
        assert html.count(base64.b64encode(figure.read_bytes()).decode()) == 1
    assert 'width="1350" height="600"' in html


def test_numbers_of_generated_data_are_not_the_papers(path):
    found = beside(
        path.parents[1] / "tables" / "steck2020_table1.csv",
        yaml.safe_load(PUBLISHED.read_text()),
        {"demo"},
    )
    demo, ml, *printed = found.columns
    assert demo.kind == "measured here, generated data"
    assert demo.numbers["edlae"]["ndcg@100"].printed is None
    assert ml.kind == "measured here, the paper's data"
    assert ml.numbers["edlae"]["ndcg@100"].printed == 0.42
    assert [(c.dataset, c.measured) for c in printed] == [
        ("ML-20M", False),
        ("Netflix", False),
        ("MSD", False),
    ]
    assert "recall@20" not in printed[0].numbers["weight_decay"]
    assert [row for row, *_ in found.models][:3] == ["5", "baseline", "1"]
    assert ("reprinted", "mult_vae", "Mult-VAE") in found.models


def test_costs_are_added_by_rule(path):
    fast, fit = costs(path.parents[1] / "benchmarks")
    assert (fit.rule, fit.jobs, fit.seconds, fit.cpu_seconds, fit.megabytes) == (
        *("fit", 2, 101.0, 53.0),
        500.0,
    )
    assert (fast.rule, fast.cpu_seconds, fast.megabytes) == ("fast", 0.0, 0.0)


def test_provenance_names_versions_and_machine(path):
    found = provenance(path.parents[1] / "benchmarks")
    assert {"python", "numpy", "snakemake"} <= set(found.versions)
    assert all(found.machine.values())
    assert found.total.jobs == 3
    assert provenance(path / "none").total.megabytes == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, "0.25"),
        (-3.1e-7, "−3.1\xa0×\xa010⁻⁷"),
        (1e-9, "10⁻⁹"),
        (2.5e11, "2.5\xa0×\xa010¹¹"),
        (np.nan, "–"),
    ],
)
def test_numbers_are_readable(value, text):
    assert shown(value) == text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("‖u_i‖ a_{ρ−1} <", "‖u<sub>i</sub>‖ a<sub>ρ−1</sub> &lt;"),
        ("Σ_{i<ρ} ‖w‖_1", "Σ<sub>i&lt;ρ</sub> ‖w‖<sub>1</sub>"),
        ("U_iV_i'X, λ_min", "U<sub>i</sub>V<sub>i</sub>&#39;X, λ<sub>min</sub>"),
        ("θ^{1/r}, κ_ρ, ‖B‖_*", "θ<sup>1/r</sup>, κ<sub>ρ</sub>, ‖B‖<sub>*</sub>"),
        ("e^(2ξt/τ)", "e<sup>(2ξt/τ)</sup>"),
        ("pal2020_fig1 of max_rss", "pal2020_fig1 of max_rss"),
    ],
)
def test_subscripts_are_set(text, html):
    assert typeset(text) == html


def test_small_texts(tmp_path):
    assert asked(equal("c", "w", 1.0, 2.0, 0.5)) == "equal to 2\xa0±\xa00.5"
    assert asked(at_most("c", "w", 1.0, 2.0)) == "at most 2"
    assert [duration(s) for s in (1.25, 200, 7500)] == ["1.2 s", "3 min 20 s", "2 h 5 min"]
    assert [paper_of(n) for n in ("pal2020", "pal2020_fig1", "dataset_tails")] == [
        *("Pal 2020", "Pal 2020"),
        "Data",
    ]
    assert pieces("a ``b`` c") == [("a ", False), ("b", True), (" c", False)]
    assert caption_of(tmp_path / "none") == ""


# In a browser.

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
    assert "ρ < r" in evidence.inner_text()
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
