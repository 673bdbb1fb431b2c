import gmpy2

gmpy2.get_context().precision = 200
print(gmpy2.sqrt(gmpy2.mpfr(2)), gmpy2.next_prime(10**30), gmpy2.powmod(3, 10**20, 10**9 + 7))
print(gmpy2.mpq(1, 3) + gmpy2.mpq(1, 6), gmpy2.fac(50), gmpy2.mpc(1, 2) ** 2)
