import pendulum

moment = pendulum.datetime(2024, 3, 31, 0, 30, tz="Europe/Paris")
print(moment.add(hours=2), moment.diff(pendulum.datetime(2025, 1, 1)).in_words(), pendulum.parse("2024-W05-2"))
print(pendulum.duration(days=400).in_words(locale="de"))
