from zope.interface import Interface, adapter, implementer, verify


class ISpeaker(Interface):
    def speak():
        "speaks"


class IPrinter(Interface):
    pass


@implementer(ISpeaker)
class Dog:
    def speak(self):
        return "woof"


registry = adapter.AdapterRegistry()
registry.register([ISpeaker], IPrinter, "", lambda thing: "printed " + thing.speak())
print(ISpeaker.providedBy(Dog()), verify.verifyObject(ISpeaker, Dog()), registry.lookup1(ISpeaker, IPrinter)(Dog()))
print(type(adapter.LookupBase).__name__, ISpeaker.__sro__)
