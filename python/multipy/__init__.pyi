"""The types of what a program uses. tests/python/types_test.py compares them with the modules."""

from typing import Final

from multipy._dataloader import dataloader_context as dataloader_context
from multipy._executor import Future as Future
from multipy._executor import InterpreterPoolExecutor as InterpreterPoolExecutor
from multipy._pool import Pool as Pool
from multipy._pool import QueueFull as QueueFull

__all__ = ["Future", "InterpreterPoolExecutor", "Interrupted", "Pool", "QueueFull", "dataloader_context"]

__version__: Final[str]
cmake_prefix_path: Final[str]

class Interrupted(BaseException): ...
