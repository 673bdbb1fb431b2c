import uuid_utils

print(uuid_utils.uuid5(uuid_utils.NAMESPACE_DNS, "example.org"), uuid_utils.UUID(int=5).hex, uuid_utils.uuid7().version)
print(len({uuid_utils.uuid4() for _ in range(1000)}))
