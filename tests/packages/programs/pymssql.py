import datetime
import decimal

import pymssql
from pymssql import _mssql

print(_mssql.quote_data("it's"), _mssql.quote_data((1, None, decimal.Decimal("2.5"), datetime.date(2024, 1, 2), b"\x01")))
print(_mssql.substitute_params("select %s, %d", ("x", 5)), pymssql.get_dbversion()[:7])
try:
    pymssql.connect("127.0.0.1", "u", "p", "d", port="1", login_timeout=5)
except pymssql.OperationalError as error:
    print("Adaptive Server" in str(error))
