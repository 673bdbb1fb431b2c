import wrapt


@wrapt.decorator
def twice(wrapped, instance, args, kwargs):
    return [wrapped(*args, **kwargs)] * 2, instance is not None


class Thing:
    @twice
    def method(self, x):
        return x


@twice
def function(x):
    return x + 1


proxy = wrapt.ObjectProxy([1, 2, 3])
print(Thing().method(3), function(3), proxy + [4], isinstance(proxy, list), wrapt._wrappers.__name__)
