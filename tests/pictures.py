"""Take the pictures of the documentation anew: `python -m tests.pictures`

It fills the demo into databases of its own, starts it, and photographs its admin with Chromium into
docs/images/. Names on the command line take only those pictures. The Korean one needs a font that
has Hangul (Debian: fonts-nanum).
"""

from __future__ import annotations

import argparse
import base64
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
_ADMIN = "/admin/jobu/"
# What the demo does not have by itself: much to do, a failure with a traceback, a message.
_MORE = """
from jobu import enqueue
from jobu.models import CronJob, DeadLetter
for number in range(3):
    enqueue("import_products", {"products": 2000, "pause_seconds": 0.1})
enqueue("send_welcome_mail", {"to": "ada@example.com"}, available_at=CronJob.objects.first()
    .updated_at + __import__("datetime").timedelta(hours=2))
enqueue("postgres_crud", {"rows": 3})
CronJob.objects.filter(name="concurrent_queries").update(
    is_enabled=False, problem="Paused: its last 5 executions ended dead.")
DeadLetter.objects.create(adapter="kafka", source_id="orders:0:4711", key=b"order-17",
    body=b'{"handler_name": "order_plcaed", "params": {"order": 17}}',
    reason="No handler is named 'order_plcaed'. Did you mean 'order_placed'?")
"""


class Picture(NamedTuple):
    """A page of the admin, and how it is looked at; `prepare` is done on it first."""

    address: str
    size: tuple[int, int] = (1280, 800)
    scheme: str = "light"
    language: str = "en"
    prepare: str = ""


PICTURES = {
    "cron-jobs": Picture("cronjob/", (1280, 720)),
    "cron-job": Picture("cronjob/{cron}/change/", (1280, 1000)),
    "executions": Picture("jobexecution/", (1280, 860)),
    "execution": Picture("jobexecution/{failed}/change/", (1280, 1180)),
    "failures": Picture("jobexecution/failures/?range=day", (1280, 620)),
    "enqueue": Picture(
        "jobexecution/add/",
        (1280, 720),
        prepare="""const handler = document.getElementById('id_handler_name');
            handler.value = 'order_placed'; handler.dispatchEvent(new Event('change'));""",
    ),
    "dead-letters": Picture("deadletter/", (1280, 460)),
    "processes": Picture("process/", (1280, 480)),
    "dashboard": Picture("dashboard/", (1280, 1880)),
    "dashboard-dark": Picture("dashboard/?range=day", (1280, 930), "dark"),
    "korean": Picture("cronjob/", (1280, 720), language="ko"),
    "phone": Picture(
        "jobexecution/?status=dead",
        (390, 844),
        prepare="document.querySelector('.actions').scrollIntoView()",
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.pictures", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PICTURES))
    parser.add_argument("--port", type=int, default=8299, help="(default: 8299)")
    arguments = parser.parse_args()
    names = arguments.names or list(PICTURES)
    if unknown := [name for name in names if name not in PICTURES]:
        parser.error(f"no picture is called {', '.join(unknown)}")
    with tempfile.TemporaryDirectory() as folder, demo(Path(folder), arguments.port) as manage:
        ids = ids_of(manage)
        with chromium() as driver:
            log_in(driver, f"http://127.0.0.1:{arguments.port}")
            for name in names:
                take(driver, name, PICTURES[name], f"http://127.0.0.1:{arguments.port}", ids)
                print(IMAGES / f"{name}.png")
    return 0


Manage = Callable[..., str]


@contextmanager
def demo(folder: Path, port: int) -> Iterator[Manage]:
    """Run the demo in a folder of its own; yield a way to call its manage.py."""
    environment = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{folder / 'demo.sqlite3'}",
        "SQLITE_2_URL": f"sqlite:///{folder / 'second.sqlite3'}",
    }
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "manage.py"]
    place = ROOT / "sample_project"

    def manage(*arguments: str) -> str:
        return subprocess.run(
            [*command, *arguments],
            cwd=place,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout

    manage("migrate_all")
    manage("seed_demo")
    with (folder / "log").open("w") as log:
        running = subprocess.Popen(
            [*command, "runjobu", "--bind", f"127.0.0.1:{port}"],
            cwd=place,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_for(port)
            # The first runs, and what the dispatcher plans.
            time.sleep(15)
            manage("shell", "-c", _MORE)
            time.sleep(6)
            yield manage
        finally:
            running.send_signal(signal.SIGINT)
            running.wait(timeout=60)


def ids_of(manage: Manage) -> dict[str, str]:
    """Return the rows whose pages are photographed."""
    code = """
from jobu.models import CronJob, JobExecution
dead = JobExecution.objects.dead().exclude(dedupe_key__contains="T").order_by("-id")
print("ids", CronJob.objects.get(name="import_products").pk,
    max(dead, key=lambda each: len(each.errors[-1]["traceback"])).pk)
"""
    [line] = [each for each in manage("shell", "-c", code).splitlines() if each.startswith("ids")]
    return dict(zip(("cron", "failed"), line.split()[1:], strict=True))


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for switch in ("headless=new", "no-sandbox", "hide-scrollbars", "force-color-profile=srgb"):
        options.add_argument(f"--{switch}")
    driver = webdriver.Chrome(options=options)
    try:
        yield driver
    finally:
        driver.quit()


def log_in(driver: webdriver.Chrome, server: str) -> None:
    driver.get(f"{server}/admin/login/?next={_ADMIN}")
    driver.find_element(By.ID, "id_username").send_keys("admin")
    driver.find_element(By.ID, "id_password").send_keys("admin")
    driver.find_element(By.CSS_SELECTOR, "[type=submit]").click()
    WebDriverWait(driver, 30).until(lambda _: "/login/" not in driver.current_url)
    driver.execute_script("localStorage.setItem('django.admin.navSidebarIsOpen', 'false')")


def take(
    driver: webdriver.Chrome, name: str, picture: Picture, server: str, ids: dict[str, str]
) -> None:
    width, height = picture.size
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    scheme = {"name": "prefers-color-scheme", "value": picture.scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    language = {"name": "django_language", "value": picture.language, "url": server}
    driver.execute_cdp_cmd("Network.setCookie", language)
    driver.get(f"{server}{_ADMIN}{picture.address.format(**ids)}")
    driver.execute_script(picture.prepare)
    # Charts are drawn, params become fields, a preview comes.
    time.sleep(2)
    answer = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    (IMAGES / f"{name}.png").write_bytes(base64.b64decode(answer["data"]))


def _wait_for(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise TimeoutError(f"nothing listens at port {port}")


if __name__ == "__main__":
    sys.exit(main())
