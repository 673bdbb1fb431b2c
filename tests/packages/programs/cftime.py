import cftime

date = cftime.datetime(2000, 2, 30, calendar="360_day")
print(date, cftime.date2num(date, "hours since 1999-01-01", calendar="360_day"), date.dayofyr)
print(cftime.num2date([0, 59.5], "days since 1900-01-01", calendar="noleap"))
