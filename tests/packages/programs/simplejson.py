import decimal

import simplejson

print(simplejson.dumps({"d": decimal.Decimal("1.10"), "t": (1, 2)}, use_decimal=True, sort_keys=True))
print(simplejson.loads('[1.10, "\\u00e4"]', use_decimal=True), simplejson.scanner.c_make_scanner is not None)
try:
    simplejson.loads("[1, 2")
except simplejson.JSONDecodeError as error:
    print(error)
