"""A browser with a small page, and a large one, for all tests of the page in a browser."""

import pytest

from coebl.report.page import Preset
from report.browser import MATCHES, NAMES, PRESETS, REFERENCE, VERDICTS, MadeUp, Page, make_page, start_browser


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    browser = start_browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.quit()


@pytest.fixture(scope="session")
def source():
    def change(runs, game, row, column, metric):
        return None if metric == "kl" and game != "rps" else runs

    about = {"name": "demo", "text": "x = 1\n" * 3, "seconds": 100.0}
    return MadeUp(MATCHES, [*NAMES, "kl"], change=change, **about)


@pytest.fixture(scope="session")
def small(tmp_path_factory, source):
    folder = tmp_path_factory.mktemp("small")
    return make_page(
        source,
        folder / "page.html",
        title="A demonstration",
        question="Does it work?",
        verdicts=VERDICTS,
        presets=PRESETS,
        command="coebl run demo.toml",
        first=["absolute_pseudo_regret", "pseudo_regret", "tv"],
        strongest="best-response",
        convergence=["exploitability", "tv"],
        reference=REFERENCE,
    )


@pytest.fixture(scope="session")
def full(tmp_path_factory):
    """A large study: 15 games, 495 matches, seven metrics, and more recorded rounds than a page draws."""
    rates = [*(f"coebl:c={c}" for c in (0, 0.5, 1, 2, 4, 6, 12, 16)), "coebl"]
    others = ["ucb", "exp3", "exp3-ix", "exp3-as-released", "exp3-ix-as-released"]
    pairs = [
        *((spec, spec) for spec in (*rates, *others)),
        *((spec, "best-response") for spec in rates),
        *((spec, column) for spec in others for column in ("coebl", "coebl:c=2")),
    ]
    games = ["rps", *(f"{family}:n={n}" for family in ("diagonal", "bigger-number") for n in range(2, 9))]
    metrics = [*NAMES, "absolute_regret", "regret_magnitude"]
    source = MadeUp([(game, *pair) for game in games for pair in pairs], metrics, recorded=60)
    presets = [Preset("four", {"*": ["coebl", *others[:3]]}), Preset("by c", {"*": rates})]
    path = tmp_path_factory.mktemp("full") / "page.html"
    return make_page(source, path, title="Full", presets=presets)


@pytest.fixture(autouse=True)
def no_errors_in_the_console(request):
    driver = request.getfixturevalue("driver") if "driver" in request.fixturenames else None
    yield
    assert driver is None or driver.get_log("browser") == []


@pytest.fixture
def page(driver, small):
    """The small page, freshly opened at the size of a desktop."""
    return Page(driver, small)


@pytest.fixture
def opened(driver, tmp_path):
    """A function that writes a page and opens it."""

    def write_and_open(source, width=1280, **options):
        path = make_page(source, tmp_path / "page.html", **({"title": "Made up"} | options))
        return Page(driver, path, width, 800)

    return write_and_open
