import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Has metrics of its own, of each kind."""

    def initialize(self, args):
        self.counters = pb_utils.MetricFamily(
            name="measured_count", description="What was asked", kind=pb_utils.MetricFamily.COUNTER
        )
        self.count = self.counters.Metric(labels={"model": "measures", "of": "all"})
        self.gauges = pb_utils.MetricFamily("measured_last", "The last", pb_utils.MetricFamily.GAUGE)
        self.last = self.gauges.Metric({"model": "measures"})
        self.histograms = pb_utils.MetricFamily(
            "measured_sizes", "How large", pb_utils.MetricFamily.HISTOGRAM
        )
        self.sizes = self.histograms.Metric({"model": "measures"}, buckets=[1, 10, 100])

    def execute(self, requests):
        responses = []
        for request in requests:
            tensor = request.inputs()[0]
            value = int(tensor.as_numpy()[0])
            if value < 0:
                self.refuse(value)
            self.count.increment(value)
            self.last.set(value)
            self.sizes.observe(value)
            if self.last.value() != value:
                raise AssertionError(self.last.value())
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", tensor.as_numpy())]))
        return responses

    def refuse(self, value):
        if value == -1:
            self.count.increment(-1)  # a counter goes up only
        if value == -2:
            self.histograms.Metric({"model": "other"})  # without buckets
        if value == -3:
            self.counters.Metric({"model": 3})
        if value == -4:
            family = pb_utils.MetricFamily("measured_short", "Ends", pb_utils.MetricFamily.GAUGE)
            metric = family.Metric()
            metric.set(1)
            del family
            metric.set(2)
