"""On the search path of make_packages.py only."""


def answer():
    return 42
