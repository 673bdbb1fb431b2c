"""The example's own model: answers are plain Python's, also while it and the interpreters are replaced.

    answers_test.py PROGRAM EXPORT_SCRIPT PACKAGE
"""

import concurrent.futures
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import torch
from torch.package import PackageImporter

import gated_package
from running import running, wait_until

TEXTS = ["Wo ist der Bahnhof?", "Where are my shoes?", "Je ne sais pas.", "¿Qué hora es?", "Va tutto bene.",
         "äöü", "🚲", "x"]


def plain_python(package):
    """Text to answer, for the same package in plain Python."""
    model = PackageImporter(package).load_pickle("model", "model.pkl")
    with torch.no_grad():
        return {text: model({"text": text}) for text in TEXTS}


def is_near(answer, expected):
    return answer["language"] == expected["language"] and list(answer["probabilities"]) == list(
        expected["probabilities"]) and all(
            abs(answer["probabilities"][name] - probability) < 1e-5
            for name, probability in expected["probabilities"].items())


class Clients:
    """Threads that ask for one text after the other; each answer has to be that of one of the models."""

    def __init__(self, service, models):
        self.service = service
        self.models = models  # texts to answers, of each
        self.seen = [0] * len(models)
        self.wrong = []
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self.ask) for _ in range(4)]

    def ask(self):
        while not self.stop.is_set():
            for text in TEXTS:
                try:
                    answer = self.service.predict({"text": text})
                    self.take(text, answer)
                except Exception as error:  # which must not be lost with its thread
                    self.wrong.append((text, error))

    def take(self, text, answer):
        fitting = [i for i, model in enumerate(self.models)
                   if answer.status == 200 and is_near(answer.json(), model[text])]
        if not fitting:
            self.wrong.append((text, answer))
        for i in fitting:
            self.seen[i] += 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()
        assert not self.wrong, self.wrong[:5]


def many_at_once(service, expected):
    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        texts = TEXTS * 25
        for text, answer in zip(texts, threads.map(lambda text: service.predict({"text": text}), texts)):
            assert answer.status == 200 and is_near(answer.json(), expected[text]), (text, answer)


def garbage(service):
    for body in (b"", b"{", b"\xff\xfe", b'{"text": "\xff"}', b"[" * 100_000, b"[" * 65 + b"]" * 65,
                 b"18446744073709551615", b"{}", b"null", b'{"text": 3}', b'{"text": " "}'):
        answer = service.request("POST", "/predict", body)
        assert answer.status == 400 and answer.error()[0] == "BadRequest", (body[:20], answer)
    for timeout in ("soon", "-1", "1.5", "99999999999"):
        answer = service.predict({"text": "x"}, Timeout_Ms=timeout)
        assert answer.status == 400 and "Timeout-Ms" in answer.error()[1], (timeout, answer)
    assert service.predict({"text": "x"}, Timeout_Ms="4000000000").status == 200
    assert service.get("/predict").status == 404
    assert service.get("/").status == 404 and service.get("/").error()
    assert service.request("POST", "/predict", b" " * (17 << 20)).status == 413


def pages(service):
    assert service.get("/live").json() == {"ready": True, "reasons": []}
    assert service.get("/ready").json() == {"ready": True, "reasons": []}
    assert service.metric("multipy_interpreters", state="serving") >= 2  # (more while one is replaced)
    assert service.metric("multipy_calls_total") >= 200
    assert service.metric("multipy_errors_total") >= 4  # of BadInput, in garbage()
    assert service.metric("service_responses_total", status="200") >= 200
    assert service.metric("service_responses_total", status="400") >= 10


def reload(service, package, new, outcome):
    """Puts another file into the package's place and waits for what comes of it."""
    before = service.metric("service_reloads_total", outcome=outcome)
    shutil.copy(new, f"{package}.new")
    os.replace(f"{package}.new", package)
    service.signal(signal.SIGHUP)
    wait_until(lambda: service.metric("service_reloads_total", outcome=outcome) > before, f"a reload {outcome}")


def reloads(service, package, first, second):
    models = [plain_python(first), plain_python(second)]
    with Clients(service, models) as clients:
        wait_until(lambda: clients.seen[0], "the first model answers")
        reload(service, package, second, "succeeded")
    assert clients.seen[0] and not is_near(models[0][TEXTS[0]], models[1][TEXTS[0]])
    many_at_once(service, models[1])


def broken_reloads(service, folder, package, expected):
    garbage = folder / "garbage.pt"
    garbage.write_bytes(b"this is no package")
    refuses_its_example = gated_package.save(folder / "refuses.pt", {"raise": "no weights"})
    no_json = gated_package.save(folder / "no_json.pt", "{")
    with Clients(service, [expected]) as clients:
        for broken in (garbage, refuses_its_example, no_json):
            reload(service, package, broken, "failed")
        # Interpreters that come now load the old package too, though its file has gone.
        replaced = service.metric("multipy_replacements_total", reason="calls")
        wait_until(lambda: service.metric("multipy_replacements_total", reason="calls") >= replaced + 2,
                   "two more interpreters have been replaced")
    assert clients.seen[0]
    log = service.log()
    for reason in ("the old model goes on serving", package.name, "no weights", "model/example.json"):
        assert reason in log, reason


def main(program, export, first):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.executable, "-B", export, folder / "second", "1"], check=True)
        second = folder / "second" / "language.pt"
        package = folder / "serving.pt"
        shutil.copy(first, package)
        with running(program, package, interpreters=2, deadline=400_000, replace_after_calls=300) as service:
            many_at_once(service, plain_python(first))
            garbage(service)
            pages(service)
            reloads(service, package, first, second)
            broken_reloads(service, folder, package, plain_python(second))
            assert service.metric("multipy_failed_replacements_total") == 0
            service.signal(signal.SIGINT)
            assert service.wait() == 0


if __name__ == "__main__":
    main(*sys.argv[1:])
