"""check_rooms.py finds each kind of fault in a small house."""

import pathlib
import tempfile
import unittest

from check_rooms import House, read_rooms, unused_doors

TABLE = """\
low|src/low|-|
high|src/high|torch|low
high/attic|src/high/attic|-|low
"""


class RoomsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = pathlib.Path(folder.name)
        self.write("src/low/low.h", "#include <string>\n")
        self.write("src/high/high.cpp", '#include "low/low.h"\n#include <ATen/Tensor.h>\n')
        self.write("src/high/attic/attic.h", '#include "low/low.h"\n')
        for room in ("low", "high", "high/attic"):
            self.write(f"src/{room}/README.md", "")

    def write(self, path, text):
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def house(self):
        return House(self.project, read_rooms(TABLE))

    def expect_fault(self, words):
        faults = list(self.house().faults())
        self.assertEqual(len(faults), 1, faults)
        self.assertIn(words, faults[0])

    def test_declared_doors_are_allowed(self):
        self.assertEqual(list(self.house().faults()), [])
        self.assertEqual(list(unused_doors(self.house())), [])

    def test_an_arrow_upwards_is_named_with_its_line(self):
        self.write("src/low/low.cpp", '#include <string>\n#include "high/attic/attic.h"\n')
        self.expect_fault('src/low/low.cpp:2: room low may not include "high/attic/attic.h" of room high/attic')

    def test_a_room_within_a_room_is_a_room_of_its_own(self):
        self.write("src/high/high.cpp", '#include "low/low.h"\n#include "high/attic/attic.h"\n')
        self.expect_fault("room high may not include")

    def test_torch_is_known_to_its_rooms_only(self):
        self.write("src/low/low.h", "#include <c10/core/Device.h>\n")
        self.expect_fault("room low knows nothing of torch")

    def test_python_is_known_to_libinterpreter_only(self):
        self.write("src/low/low.h", "#include <Python.h>\n")
        self.expect_fault("outside of libinterpreter.so")

    def test_an_include_that_leads_nowhere_is_found(self):
        self.write("src/low/low.h", '#include "low/gone.h"\n')
        self.expect_fault('"low/gone.h" is no file of this project')

    def test_a_file_outside_of_all_rooms_is_found(self):
        self.write("src/new/new.h", "")
        self.expect_fault("src/new/new.h: is in no room")

    def test_a_room_without_readme_is_found(self):
        (self.project / "src/low/README.md").unlink()
        self.expect_fault("src/low: has no README.md")

    def test_a_door_without_use_is_found(self):
        self.write("src/high/attic/attic.h", "")
        self.assertIn("says that it uses low, and does not", next(unused_doors(self.house())))


if __name__ == "__main__":
    unittest.main()
