from datetime import date
from typing import Annotated, Literal

import pydantic


class Item(pydantic.BaseModel):
    name: str
    price: Annotated[float, pydantic.Field(gt=0)]
    kind: Literal["a", "b"] = "a"


class Order(pydantic.BaseModel):
    items: list[Item]
    day: date

    @pydantic.field_validator("items")
    @classmethod
    def some(cls, items):
        assert items, "none"
        return items


order = Order.model_validate_json('{"items": [{"name": "x", "price": "1.5"}], "day": "2024-02-03"}')
print(order, order.model_dump_json(), Order.model_json_schema())
try:
    Order.model_validate({"items": [{"name": 1, "price": -1, "kind": "c"}], "day": "x"})
except pydantic.ValidationError as error:
    print(error)
