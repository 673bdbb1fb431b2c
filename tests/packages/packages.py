"""The packages of the table: packages.txt, and a program for each in programs/."""

import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / "packages.txt"
PROGRAMS = HERE / "programs"


@dataclasses.dataclass(frozen=True)
class Package:
    name: str  # as pip knows it
    requirement: str
    kind: str  # the section of packages.txt
    only: str  # why it can do less here than in plain Python, or nothing

    @property
    def program(self) -> str:
        return self.name.lower().replace("-", "_").replace(".", "_")


def load() -> dict[str, Package]:
    """{name: Package}, in the order of packages.txt."""
    packages, kind = {}, ""
    for number, line in enumerate(LIST.read_text("utf-8").splitlines(), 1):
        line, _, remark = line.partition("  #")
        line, remark = line.strip(), remark.strip()
        if line.startswith("# == "):
            kind = line.removeprefix("# == ").strip()
        if not line or line.startswith("#"):
            continue
        name = line.split("==")[0].split("[")[0]
        package = Package(name, line, kind, remark)
        if not kind or name in packages or not (PROGRAMS / f"{package.program}.py").is_file():
            raise ValueError(f"{LIST}:{number}: {line} is listed twice, in no section, or has no programs/{package.program}.py")
        packages[name] = package
    without = {file.stem for file in PROGRAMS.glob("*.py")} - {package.program for package in packages.values()}
    if without:
        raise ValueError(f"{LIST}: not listed, but in programs/: {', '.join(sorted(without))}")
    return packages
