"""Update of the pictures in the README and the docs from a run, compressed to few colours.

    python benchmarks/pictures.py results scorecard pal2020_dropconnect
    python benchmarks/pictures.py results pretorius2018_relu=pretorius2018_mnist

The name `scorecard` stands for a screenshot of the top of results/report/index.html in Chromium;
other names are figures in results/figures. A name after = names the picture. Writes docs/*.png.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

DOCS = Path(__file__).resolve().parents[1] / "docs"
COLOURS = 64
SIZE = {"width": 1120, "height": 1044}


def page(file: Path) -> bytes:
    """Screenshot of the top of an HTML page, as PNG."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        view = browser.new_page(viewport=SIZE)
        view.goto(file.resolve().as_uri())
        picture = view.screenshot()
        browser.close()
    return picture


def main(results: Path, names: list[str]) -> None:
    for name, picture in (name.split("=") if "=" in name else (name, name) for name in names):
        shown = (
            page(results / "report" / "index.html")
            if name == "scorecard"
            else (results / "figures" / f"{name}.png").read_bytes()
        )
        image = Image.open(io.BytesIO(shown)).convert("RGB")
        image.quantize(COLOURS).save(DOCS / f"{picture}.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
