import dataclasses
import datetime
import uuid

import numpy
import orjson


@dataclasses.dataclass
class Point:
    x: int
    when: datetime.datetime


data = {"p": Point(1, datetime.datetime(2024, 1, 2)), "u": uuid.UUID(int=5), "a": numpy.arange(3), "t": "ü\n"}
text = orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_INDENT_2)
print(text.decode(), orjson.loads(text))
try:
    orjson.loads(b'{"a": 1,}')
except orjson.JSONDecodeError as error:
    print(error)
