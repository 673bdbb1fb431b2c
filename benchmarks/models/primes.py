"""No torch at all: Python that computes."""


def count_primes(below: int) -> int:
    """By trial division."""
    primes = []
    for number in range(2, below):
        for prime in primes:
            if prime * prime > number:
                primes.append(number)
                break
            if number % prime == 0:
                break
        else:
            primes.append(number)
    return len(primes)
