import greenlet


def producer(n):
    for i in range(n):
        consumer.switch(i)
    consumer.switch(None)


def consume(first):
    total, value = 0, first
    while value is not None:
        total += value
        value = source.switch()
    return total


main = greenlet.getcurrent()
source = greenlet.greenlet(lambda: producer(1000))
consumer = greenlet.greenlet(lambda first: main.switch(consume(first)))
print(source.switch())


def nested(depth):
    return depth if depth == 0 else greenlet.greenlet(nested).switch(depth - 1) + 1


print(nested(50))
try:
    greenlet.greenlet(lambda: 1 / 0).switch()
except ZeroDivisionError as error:
    print(error)
