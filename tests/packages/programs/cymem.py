from cymem.cymem import Address, Pool

first = Address(8, 16)
addresses = {Address(1000, 1).addr for _ in range(5)} | {first.addr}
print(Pool().size, len(addresses) > 1, Address(4, 4).addr != 0)
