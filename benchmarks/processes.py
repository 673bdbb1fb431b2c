"""The processes that the driver asks, and how much memory they take."""

import os
import pathlib
import subprocess


class Failure(Exception):
    """A program that was asked could not answer."""


class Asked:
    """A program that answers each line with one number. A context: it ends with it."""

    def __init__(self, *command: object, environment: dict | None = None) -> None:
        self.command = [str(word) for word in command]
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})},
        )

    def __enter__(self) -> "Asked":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        code = self.process.wait(timeout=120)
        self.process.stdout.close()
        if code != 0 and _[0] is None:
            raise Failure(f"{self.command[0]} ended with exit code {code}")

    def ask(self, *words: object) -> float:
        line = "\t".join(str(word) for word in words)
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise Failure(f"{self.command} ended while asked: {line!r} (exit code {self.process.wait()})")
        if answer.startswith("error:"):
            raise Failure(f"{self.command} was asked {line!r} and answered: {answer.strip()}")
        return float(answer)

    def cpu_seconds(self) -> float:
        """Of all its threads so far, also of those that have ended."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def pss_mb(self) -> float:
        """Proportional set size of the process and all that descend from it."""
        return sum(_pss_mb(pid) for pid in _tree(self.process.pid))


def _tree(pid: int) -> list[int]:
    children = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        children += [int(child) for child in (task / "children").read_text().split()]
    return [pid] + [descendant for child in children for descendant in _tree(child)]


def _pss_mb(pid: int) -> float:
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise Failure(f"/proc/{pid}/smaps_rollup has no Pss")
