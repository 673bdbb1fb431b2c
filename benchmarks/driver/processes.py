"""The processes that the driver asks, and how much memory they take."""

import os
import pathlib
import subprocess


class Failure(Exception):
    """A program that was asked could not answer."""


class Asked:
    """A program that answers each line with numbers. A context: it ends with it."""

    def __init__(self, *command: object) -> None:
        self.command = [str(word) for word in command]
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Asked":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        code = self.process.wait(timeout=300)
        self.process.stdout.close()
        if code != 0 and _[0] is None:
            raise Failure(f"{self.command[0]} ended with exit code {code}")

    def ask(self, *words: object) -> float:
        """One number."""
        numbers = self.ask_for_many(*words)
        if len(numbers) != 1:
            raise Failure(f"{self.command} was asked {words} and answered {len(numbers)} numbers, not one")
        return numbers[0]

    def ask_for_many(self, *words: object) -> list[float]:
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
        return [float(number) for number in answer.split("\t")]

    def cpu_seconds(self) -> float:
        """Of it and all that descend from it so far, also of threads that have ended."""
        ticks = 0
        for pid in _tree(self.process.pid):
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def pss_mb(self) -> float:
        """Proportional set size of the process and all that descend from it."""
        return sum(_pss_mb(pid) for pid in _tree(self.process.pid))

    def mappings(self) -> int:
        """How many of the process's kernel mappings (vm.max_map_count limits them)."""
        return len(pathlib.Path(f"/proc/{self.process.pid}/maps").read_text().splitlines())


def multipy(plan) -> Asked:
    return Asked(plan.program, plan.here / "rivals" / "python_loops.py")


def make_copies(plan, interpreters: int, *, torch: bool = True) -> None:
    """Each interpreter's private copies of libraries are made when it is first started, ever
    (files to write): afterwards they are there, and read."""
    with multipy(plan) as program:
        program.ask("pool", "pool", interpreters)
        if torch:
            program.ask("torch", "pool")


def rival(plan, script: str, *words: object) -> Asked:
    return Asked(plan.python, "-B", "-W", "ignore", plan.here / "rivals" / script, *words)


def _tree(pid: int) -> list[int]:
    children = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            children += [int(child) for child in (task / "children").read_text().split()]
        except FileNotFoundError:  # a thread that has just ended
            pass
    return [pid] + [descendant for child in children for descendant in _tree(child)]


def _pss_mb(pid: int) -> float:
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise Failure(f"/proc/{pid}/smaps_rollup has no Pss")
