"""torch's own test_dataloader.py, with interpreters as the workers of each DataLoader.

    python dataloader_cases.py FILE (multipy|processes) RESULTS [name of a test...]

RESULTS becomes a JSON file: what came of each test.
"""

import importlib
import json
import os
import sys
import unittest


def use_interpreters():
    import torch.utils.data

    import multipy

    init = torch.utils.data.DataLoader.__init__

    def with_interpreters(self, *args, **kwargs):
        workers = kwargs.get("num_workers", args[5] if len(args) > 5 else 0)
        if workers > 0 and kwargs.get("multiprocessing_context") in (None, "fork", "spawn", "forkserver"):
            kwargs["multiprocessing_context"] = multipy.dataloader_context()
        init(self, *args, **kwargs)

    torch.utils.data.DataLoader.__init__ = with_interpreters


def outcomes_of(suite):
    found = {}

    class Result(unittest.TextTestResult):
        def stopTest(self, test):
            super().stopTest(test)
            name = test.id().split(".", 1)[1]
            for what in "failures", "errors":
                if any(test is each for each, _ in getattr(self, what)):
                    found[name] = "failed"
            for what, word in ("skipped", "skipped"), ("expectedFailures", "expected failure"):
                if any(test is each for each, _ in getattr(self, what)):
                    found[name] = word
            found.setdefault(name, "passed")

    unittest.TextTestRunner(verbosity=2, resultclass=Result).run(suite)
    return found


def main():
    path, workers, results, *names = sys.argv[1:]
    sys.argv[:] = [path]  # where torch.testing expects the tests
    if workers == "multipy":
        use_interpreters()
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))  # where workers find it, too
    module = importlib.import_module("test_dataloader")
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    found = outcomes_of(suite)
    with open(results, "w") as file:
        json.dump(found, file, indent=1, sort_keys=True)


if __name__ == "__main__":
    main()
