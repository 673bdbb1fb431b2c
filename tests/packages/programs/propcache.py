from propcache import _helpers_c, cached_property, under_cached_property


class Thing:
    def __init__(self):
        self._cache = {}
        self.calls = 0

    @under_cached_property
    def under(self):
        self.calls += 1
        return self.calls

    @cached_property
    def plain(self):
        return self.under + 10


thing = Thing()
print(thing.under, thing.under, thing.plain, thing.calls, _helpers_c.cached_property is cached_property)
