import datetime
import time

import time_machine

with time_machine.travel(datetime.datetime(2001, 2, 3, tzinfo=datetime.timezone.utc), tick=False) as traveller:
    print(time.time(), datetime.date.today())
    traveller.shift(60)
    print(time.gmtime().tm_min)
print(time.time() > 1e9)
