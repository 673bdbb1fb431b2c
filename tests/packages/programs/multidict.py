import multidict

headers = multidict.CIMultiDict([("Accept", "a"), ("accept", "b"), ("Host", "h")])
headers.add("HOST", "i")
print(headers.getall("ACCEPT"), list(headers), multidict.CIMultiDictProxy(headers)["host"])
print(sorted(headers.keys() & {"Host"}), headers.popall("host"), len(headers))
