import ciso8601

print(ciso8601.parse_datetime("2024-01-02T03:04:05.678+01:30"), ciso8601.parse_datetime_as_naive("20240102T030405Z"))
try:
    ciso8601.parse_datetime("2024-13-02")
except ValueError as error:
    print(error)
