import concurrent.futures
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar, overload

_P = ParamSpec("_P")
_T = TypeVar("_T")

class Future(concurrent.futures.Future[_T]):
    def cancel(self, running: bool = False) -> bool: ...

class InterpreterPoolExecutor(concurrent.futures.ThreadPoolExecutor):
    def __init__(
        self,
        max_workers: int | None = None,
        thread_name_prefix: str = "",
        initializer: Callable[..., object] | None = None,
        initargs: tuple[Any, ...] = (),
        *,
        max_tasks_per_child: int | None = None,
        copy: bool = False,
        slim_torch: bool = True,
        slim_importers: Sequence[str] = (),
        slim_modules: Sequence[str] = (),
    ) -> None: ...
    @overload
    def submit(self, fn: Callable[..., _T], /, *args: Any, deadline: float | None, **kwargs: Any) -> Future[_T]: ...
    @overload
    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]: ...
    def map(
        self,
        fn: Callable[..., _T],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
        buffersize: int | None = None,
        progress: bool = False,
    ) -> Iterator[_T]: ...
