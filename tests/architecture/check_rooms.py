"""Compares each #include of the rooms' sources with the doors that CMake declares.

    check_rooms.py <project> <rooms.txt>

A line of rooms.txt is "room|folder|torch or -|rooms that it uses", as cmake/MultipyRooms.cmake
writes it. Prints the includes that no door allows, and what else the rooms promise and do not
keep; exit status 1 if there is any.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
SOURCES = {".h", ".cpp", ".c"}
TORCH = re.compile(r"(ATen|c10|c10d|torch|caffe2)/")
# What every room may know of the public headers: errors and plain values.
VALUES = {"include/multipy/runtime/Exception.h", "include/multipy/runtime/stacks.h"}
# Made by the build.
GENERATED = {"multipy_build_config.h", "torch_bridge/symbols/torch_features.h"}


class Room:
    def __init__(self, line):
        self.name, self.folder, torch, uses = line.split("|")
        self.torch = torch == "torch"
        self.uses = set(uses.split())


def read_rooms(text):
    return [Room(line) for line in text.splitlines() if line]


class House:
    def __init__(self, project, rooms):
        self.project = pathlib.Path(project)
        self.rooms = rooms
        # A file is in the room with the longest folder above it.
        self._by_folder = sorted(rooms, key=lambda room: -len(room.folder))

    def room_of(self, path):
        return next((r for r in self._by_folder if path.startswith(r.folder + "/")), None)

    def sources(self):
        for top in ("src", "interpreter"):
            for path in sorted((self.project / top).rglob("*")):
                if path.suffix in SOURCES:
                    yield path.relative_to(self.project).as_posix()

    def file_of(self, name):
        """The project's file that this include means, or None."""
        places = ["src/" + name, "include/" + name, name]
        return next((place for place in places if (self.project / place).is_file()), None)

    def includes(self):
        """(path, line, room, what is between "" or None, what is between <> or None) of each."""
        for path in self.sources():
            room = self.room_of(path)
            text = (self.project / path).read_text() if room else ""
            for match in INCLUDE.finditer(text):
                yield path, text.count("\n", 0, match.start(0)) + 1, room, *match.groups()

    def faults(self):
        for path in self.sources():
            if self.room_of(path) is None:
                yield f"{path}: is in no room; name its folder in a CMakeLists.txt"
        for path, line, room, ours, system in self.includes():
            fault = self._fault(room, ours, system)
            if fault:
                yield f"{path}:{line}: {fault}"
        for room in self.rooms:
            if not (self.project / room.folder / "README.md").is_file():
                yield f"{room.folder}: has no README.md"

    def _fault(self, room, ours, system):
        if system is not None:
            if TORCH.match(system) and not room.torch:
                return f"room {room.name} knows nothing of torch, and includes <{system}>"
            if system == "Python.h" and not room.name.startswith("interpreter/"):
                return f"room {room.name} is outside of libinterpreter.so, and includes <Python.h>"
            return None
        if ours in GENERATED:
            return None
        target = self.file_of(ours)
        if target is None:
            return f'"{ours}" is no file of this project; others are included with <>'
        if target in VALUES:
            return None
        other = self.room_of(target)
        if other is None:
            return f'"{ours}" is in no room'
        if other is room or other.name in room.uses:
            return None
        return (f'room {room.name} may not include "{ours}" of room {other.name}; it uses '
                f"{', '.join(sorted(room.uses)) or 'none'} ({room.folder}/CMakeLists.txt)")


def unused_doors(house):
    """Doors that are declared and that no include goes through."""
    used = {room.name: set() for room in house.rooms}
    for _, _, room, ours, _ in house.includes():
        other = ours and house.room_of(house.file_of(ours) or "")
        if other:
            used[room.name].add(other.name)
    for room in house.rooms:
        for name in sorted(room.uses - used[room.name]):
            yield f"{room.folder}/CMakeLists.txt: room {room.name} says that it uses {name}, and does not"


def main(project, table):
    house = House(project, read_rooms(pathlib.Path(table).read_text()))
    faults = [*house.faults(), *unused_doors(house)]
    for fault in faults:
        print(fault)
    arrows = sum(len(room.uses) for room in house.rooms)
    print(f"{len(house.rooms)} rooms, {arrows} doors, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
