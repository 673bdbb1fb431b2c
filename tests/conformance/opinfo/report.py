"""What one Python makes of torch's own samples: every result as a short text.

torch describes its operators, modules and optimizers for its own tests, in
torch.testing._internal (OpInfo, ModuleInfo, OptimizerInfo), samples and expected
errors included. report() runs such samples and returns what came out. compare.py
runs it in plain Python and in N interpreters at once, and compares.

Each interpreter makes its samples itself, since that is torch code worth running
too, and what samples hold (lambdas, views, gradients) does not survive pickling.
They, and operators like dropout, draw from torch's default generator, which is
seeded before each case by the case's name: so results do not depend on which part
of the list is run, or in which order. Every interpreter has a default generator
of its own; if it had not, the others' draws would show as differences here.
"""

import argparse
import json
import random
import re
import warnings
import zlib

import numpy
import torch

from opinfo import modules, operators, optimizers
from opinfo.values import describe_error

KINDS = {"ops": operators.subjects, "modules": modules.subjects, "optimizers": optimizers.subjects}


def parse(arguments):
    parser = argparse.ArgumentParser("report")
    parser.add_argument("kinds", help="e.g. ops,modules,optimizers")
    parser.add_argument("--dtypes", default="float32", help="e.g. float32,complex64,int64")
    parser.add_argument("--slice", default="0/1", help="i/n: every n-th subject, from the i-th")
    parser.add_argument("--only", default="", help="regular expression that names of subjects match")
    parser.add_argument("--device", default="cpu", help="where the samples are, such as cuda")
    parser.add_argument("--anywhere", action="store_true", help="start at a random place of the list")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def report(arguments):
    """-> JSON: {kind: {subject: {case: text}}}"""
    options = parse(arguments)
    # One thread, so that sums are made in one order.
    torch.set_num_threads(1)
    # torch gives many of its warnings once in a process.
    warnings.simplefilter("ignore")
    selected = [(kind, subject) for kind in options.kinds.split(",") for subject in subjects(kind, options)]
    start = random.SystemRandom().randrange(len(selected)) if options.anywhere and selected else 0
    results = {kind: {} for kind in options.kinds.split(",")}
    for kind, subject in selected[start:] + selected[:start]:
        results[kind][subject.name] = run(subject, options.seed)
    return json.dumps(results)


def subjects(kind, options):
    first, step = map(int, options.slice.split("/"))
    wanted = re.compile(options.only)
    dtypes = [getattr(torch, name) for name in options.dtypes.split(",")]
    everything = KINDS[kind](dtypes, options.device)
    assert len({subject.name for subject in everything}) == len(everything), "two subjects of one name"
    return [subject for subject in everything[first::step] if wanted.search(subject.name)]


def run(subject, seed):
    """-> {case: text}"""
    results = {}
    try:
        draw_by(f"{seed} {subject.name}")
        cases = list(subject.cases())
    except Exception as error:
        return {"samples": describe_error(error)}
    for case, call in cases:
        assert case not in results, f"two cases {case!r} of {subject.name}"
        draw_by(f"{seed} {subject.name} {case}")
        try:
            results[case] = call()
        except Exception as error:
            results[case] = describe_error(error)
    return results


def draw_by(name):
    """Seeds all generators."""
    number = zlib.crc32(name.encode())
    torch.manual_seed(number)
    numpy.random.seed(number)
    random.seed(number)
