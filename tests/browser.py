"""A real browser for the tests: Chromium, driven by Selenium, against Django's live server."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

_PATIENCE_SECONDS = 30
_SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
)


def is_here() -> bool:
    """Tell whether Chromium and its driver are installed (Debian: chromium, chromium-driver)."""
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


class Browser:
    """One browser window on one live server."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver = driver
        self._url = url

    def sign_in(self, user: User) -> None:
        """Take over a session that was made without the login form."""
        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        self._set_cookie(name, client.cookies[name].value)

    def speak(self, language: str) -> None:
        """Have the reader's language chosen, as Django's `set_language` view does."""
        self._set_cookie(settings.LANGUAGE_COOKIE_NAME, language)

    def open(self, name: str, *args: Any, **query: str) -> None:
        """Open the page of a URL name, such as `admin:index`."""
        address = reverse(name, args=args)
        self.driver.get(f"{self._url}{address}{'?' if query else ''}{urlencode(query)}")

    def find(self, selector: str) -> WebElement:
        """Wait for the first element that the CSS selector finds."""
        found: WebElement = self.wait(lambda: next(iter(self.find_all(selector)), None), selector)
        return found

    def find_all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return str(self.wait(lambda: [self.find(selector).text], selector)[0])

    def wait(self, condition: Any, what: str) -> Any:
        """Wait until `condition()` is true, and return what it returned.

        An element that the page has replaced meanwhile is looked for again; a driver has more than
        one way to say so, in the middle of a navigation.
        """
        waiting = WebDriverWait(self.driver, _PATIENCE_SECONDS, 0.05, [WebDriverException])
        return waiting.until(lambda _driver: condition(), f"Waited in vain for {what}.")

    def script(self, code: str, *args: Any) -> Any:
        return self.driver.execute_script(code, *args)

    def resize(self, width: int, height: int) -> None:
        """Show this much of the page, whatever a window's smallest size is."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    def prefer(self, scheme: str) -> None:
        """Prefer a `dark` or `light` colour scheme, as the reader's system may."""
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
        )

    @contextmanager
    def in_new_tab(self) -> Iterator[None]:
        """Be in another tab inside the block; the one before is behind it, and hidden."""
        behind = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        try:
            yield
        finally:
            self.driver.close()
            self.driver.switch_to.window(behind)

    def _set_cookie(self, name: str, value: str) -> None:
        self.driver.execute_cdp_cmd(
            "Network.setCookie", {"name": name, "value": value, "url": self._url}
        )

    def console(self) -> list[str]:
        """Return what went to the console since the last call: errors, refused scripts."""
        entries: list[Any] = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        # A browser asks for an icon by itself.
        return [each["message"] for each in entries if "favicon.ico" not in each["message"]]


@pytest.fixture(scope="session")
def chromium() -> Iterator[webdriver.Chrome]:
    """One browser for all tests: its start takes longer than most of them."""
    if not is_here():
        missing = "Chromium is not here; on Debian install chromium and chromium-driver"
        if "chromium" in os.environ.get("JOBU_TEST_REQUIRE", "").split(","):
            pytest.fail(f"{missing}; JOBU_TEST_REQUIRE asks for it")
        pytest.skip(missing)
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for switch in _SWITCHES:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def browser(chromium: webdriver.Chrome, live_server: Any) -> Iterator[Browser]:
    """A window without a past; the tab that the test leaves asks the server for nothing more."""
    browser = Browser(chromium, live_server.url)
    browser.resize(1280, 1000)
    browser.prefer("light")
    try:
        yield browser
    finally:
        chromium.get("about:blank")
        chromium.execute_cdp_cmd("Network.clearBrowserCookies", {})
        chromium.execute_cdp_cmd(
            "Storage.clearDataForOrigin", {"origin": live_server.url, "storageTypes": "all"}
        )
        browser.console()
