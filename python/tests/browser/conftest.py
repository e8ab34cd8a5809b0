import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    from devtools import Browser

    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("needs Chromium; `make browser-test` installs it")
    running = Browser(executable, tmp_path_factory.mktemp("chromium"))
    yield running
    running.close()


@pytest.fixture
def open_page(browser):
    """Opens addresses; the tabs are closed after the test."""
    pages = []

    def open_address(url):
        pages.append(browser.open(url))
        return pages[-1]

    yield open_address
    for page in pages:
        page.close()
