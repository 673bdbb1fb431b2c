import datetime

import rapidjson

print(rapidjson.dumps({"d": datetime.date(2024, 1, 2), "x": [1, 2.5]}, datetime_mode=rapidjson.DM_ISO8601, indent=1))
validate = rapidjson.Validator('{"type": "object", "required": ["a"]}')
validate('{"a": 1}')
try:
    validate("{}")
except rapidjson.ValidationError as error:
    print(error)
