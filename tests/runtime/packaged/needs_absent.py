"""Wants a module that is extern and not installed where the package is loaded."""

import absent_module


class Needy:
    def __call__(self):
        return absent_module.answer()
