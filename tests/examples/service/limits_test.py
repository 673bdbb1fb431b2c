"""Deadlines, errors, overload and the end, with a model that answers when it is told to.

    limits_test.py PROGRAM
"""

import concurrent.futures
import pathlib
import signal
import subprocess
import sys
import tempfile

import gated_package
from running import TOO_LONG, running, wait_until

INTERPRETERS = 2
WAITING = 2


def under_way(service):
    return service.metric("multipy_users") + service.metric("multipy_waiting")


def probes_answer(service):
    """However busy it is. (It is not ready while the line is full.)"""
    assert service.get("/live").status == 200
    ready = service.get("/ready")
    assert (ready.status == 200) == ready.json()["ready"], ready
    assert ready.status == 200 or ready.json()["reasons"], ready


def errors_of_the_model(service):
    answer = service.predict({"raise": "out of apples"})
    assert answer.status == 500 and answer.error() == ("RuntimeError", "out of apples"), answer
    assert "in __call__" in service.log()  # the traceback is there, and only there
    answer = service.predict({"answer": [None, True, 3, 0.5, "ä", {"b": 1, "a": []}]})
    assert answer.json() == [None, True, 3, 0.5, "ä", {"b": 1, "a": []}], answer
    assert list(answer.json()[5]) == ["b", "a"]


def deadlines(service, never):
    """The gate stays closed, so that nothing but the deadline can end these."""
    for busy in (False, True):
        answer = service.predict({"wait for": never, "busy": busy}, Timeout_Ms="1")
        assert answer.status == 504 and answer.error()[0] == "DeadlineExceededError", answer

    def interrupted():
        assert service.predict({"wait for": never}, Timeout_Ms="500").status == 504
        return service.metric("multipy_ended_calls_total", reason="deadline", begun="yes")

    wait_until(interrupted, "a call that runs has been ended")
    # The interpreter that was interrupted is replaced, and requests go on.
    wait_until(lambda: service.metric("multipy_replacements_total", reason="interrupted"), "it is replaced")
    assert service.predict({"answer": "well"}).json() == "well"


def overload(service, gate):
    """More requests than may run and wait: some are refused at once, and the others answered."""
    document = {"wait for": str(gate), "busy": True, "answer": 1}
    with concurrent.futures.ThreadPoolExecutor(32) as threads:
        requests = [threads.submit(service.predict, document) for _ in range(32)]
        try:
            refused = next(concurrent.futures.as_completed(requests, TOO_LONG)).result()
            probes_answer(service)
        finally:
            gate.touch()
        answers = [request.result() for request in requests]
    assert refused.status == 503 and refused.error()[0] == "QueueFullError", refused
    assert int(refused.headers["Retry-After"]) >= 1
    assert {answer.status for answer in answers} == {200, 503}
    assert all(answer.json() == 1 for answer in answers if answer.status == 200)


def many_that_sleep(service, gate):
    """Calls that block share interpreters: the service's own bound refuses what is too much."""
    with concurrent.futures.ThreadPoolExecutor(32) as threads:
        requests = [threads.submit(service.predict, {"wait for": str(gate)}) for _ in range(32)]
        try:
            refused = next(concurrent.futures.as_completed(requests, TOO_LONG)).result()
            probes_answer(service)
        finally:
            gate.touch()
        assert {request.result().status for request in requests} == {200, 503}
    assert refused.status == 503, refused


def end(service, gate):
    """Requests that are under way are answered, others not accepted."""
    count = INTERPRETERS + WAITING
    with concurrent.futures.ThreadPoolExecutor(count) as threads:
        requests = [threads.submit(service.predict, {"wait for": str(gate), "busy": True, "answer": i})
                    for i in range(count)]
        try:
            wait_until(lambda: under_way(service) >= count, "all requests are under way")
            service.signal(signal.SIGTERM)
            wait_until(lambda: not service.accepts(), "it accepts no more connections")
            assert not any(request.done() for request in requests)
        finally:
            gate.touch()
        assert [request.result().json() for request in requests] == list(range(count))
    assert service.wait() == 0


def what_cannot_start(program, package, taken_port):
    for words, reason in ((["--package", package, "--port", str(taken_port)], "in use"),
                          (["--package", f"{package}.missing"], "missing"),
                          (["--package", package, "--deadline", "0"], "--deadline"),
                          ([], "--package")):
        ended = subprocess.run([program, "--interpreters", "1", *words], capture_output=True, text=True,
                               check=False, timeout=TOO_LONG)
        assert ended.returncode == 1 and reason in ended.stderr, (words, ended)


def main(program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        package = gated_package.save(folder / "gated.pt", {"answer": 0})
        with running(program, package, interpreters=INTERPRETERS, waiting=WAITING,
                     deadline=1000 * TOO_LONG) as service:
            errors_of_the_model(service)
            deadlines(service, str(folder / "never"))
            overload(service, folder / "overload")
            many_that_sleep(service, folder / "sleep")
            what_cannot_start(program, package, service.port)
            end(service, folder / "end")
        # It says so at once where it is asked to end a second time.
        with running(program, package, interpreters=1) as service:
            with concurrent.futures.ThreadPoolExecutor(1) as threads:
                lost = threads.submit(service.predict, {"wait for": str(folder / "never")})
                wait_until(lambda: under_way(service), "it is under way")
                service.signal(signal.SIGTERM)
                wait_until(lambda: not service.accepts(), "it accepts no more connections")
                service.signal(signal.SIGTERM)
                assert service.wait() == -signal.SIGTERM
                assert isinstance(lost.exception(TOO_LONG), ConnectionError), lost


if __name__ == "__main__":
    main(*sys.argv[1:])
