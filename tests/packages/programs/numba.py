import numba
import numpy


@numba.njit
def primes(limit):
    found = numba.typed.List.empty_list(numba.int64)
    for n in range(2, limit):
        if all_none(n, found):
            found.append(n)
    return found


@numba.njit
def all_none(n, divisors):
    for d in divisors:
        if n % d == 0:
            return False
    return True


@numba.njit(parallel=True)
def squares(values):
    total = 0
    for i in numba.prange(len(values)):
        total += values[i] ** 2
    return total


@numba.vectorize(["float64(float64, float64)"])
def hypotenuse(a, b):
    return (a * a + b * b) ** 0.5


@numba.cfunc("float64(float64)")
def doubled(x):
    return 2 * x


print(list(primes(100)))
print(squares(numpy.arange(1000)))
print(hypotenuse(numpy.array([3.0, 5.0]), numpy.array([4.0, 12.0])), doubled.ctypes(21.0))
