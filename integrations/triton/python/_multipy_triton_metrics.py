"""A model's own metrics, which the server shows with its own."""

import ctypes
import enum
import weakref

import _multipy_triton_rows as rows
import _multipy_triton_server as server
from _multipy_triton_server import TritonModelException


class Metric:
    """Made by MetricFamily.Metric()."""

    __slots__ = ("_number", "__weakref__")

    def __init__(self, number):
        self._number = number

    def increment(self, value):
        self._change(server.increment_metric, value, "increment")

    def set(self, value):
        self._change(server.set_metric, value, "set")

    def observe(self, value):
        self._change(server.observe_metric, value, "observe")

    def value(self):
        value = ctypes.c_double()
        error = server.metric_value(self._known(), ctypes.byref(value))
        server.require(error, "Failed to get metric value: ")
        return value.value

    def _change(self, function, value, name):
        error = function(self._known(), float(value))
        server.require(error, f"Failed to {name} metric value: ")

    def _known(self):
        if self._number == 0:
            raise TritonModelException(
                "Invalid metric operation as the corresponding 'MetricFamily' has been deleted. "
                "The 'MetricFamily' object should be deleted AFTER its corresponding 'Metric' "
                "objects have been deleted."
            )
        return self._number

    # (Bound here, as below: when the interpreter ends, the module may have gone before this.)
    def _clear(self, drop=server.drop_metric):
        if self._number != 0:
            drop(self._number)
            self._number = 0

    def __del__(self):
        self._clear()


class MetricFamily:
    """Metrics with one name. They end with it."""

    class MetricKind(enum.IntEnum):
        COUNTER = 0
        GAUGE = 1
        HISTOGRAM = 2

    COUNTER = MetricKind.COUNTER
    GAUGE = MetricKind.GAUGE
    HISTOGRAM = MetricKind.HISTOGRAM

    __slots__ = ("_number", "_kind", "_metrics", "__weakref__")

    def __init__(self, name, description, kind):
        self._number = 0
        self._metrics = weakref.WeakSet()
        number = ctypes.c_uint64()
        self._kind = kind = MetricFamily.MetricKind(kind)
        error = server.make_family(
            int(kind), server.to_bytes(name), server.to_bytes(description), ctypes.byref(number)
        )
        server.require(error, "Error when creating MetricFamily: ")
        self._number = number.value

    def Metric(self, labels=None, buckets=None):  # noqa: N802: Triton's name
        """`buckets`: the upper bounds of a histogram's."""
        labels = {} if labels is None else labels
        if not isinstance(labels, dict) or not all(
            isinstance(each, str) for pair in labels.items() for each in pair
        ):
            raise TritonModelException(f"labels are {labels!r}, expected a dict of str to str")
        if buckets is None and self._kind == MetricFamily.HISTOGRAM:
            raise TritonModelException("Error when creating Metric: a histogram needs buckets")
        bounds = [float(each) for each in buckets or ()]
        row = rows.pairs(labels)
        number = ctypes.c_uint64()
        error = server.make_metric(
            self._number,
            row,
            len(row),
            (ctypes.c_double * len(bounds))(*bounds),
            len(bounds),
            ctypes.byref(number),
        )
        server.require(error, "Error when creating Metric: ")
        metric = Metric(number.value)
        self._metrics.add(metric)
        return metric

    def __del__(self, drop=server.drop_family):
        for metric in list(self._metrics):
            metric._clear()
        if self._number != 0:
            drop(self._number)
