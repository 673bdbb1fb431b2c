import asyncio

import asyncpg
from asyncpg import pgproto
from asyncpg.pgproto import pgproto as compiled

uuid = compiled.UUID("12345678123456781234567812345678")
print(uuid, uuid.int, asyncpg.BitString("10110").to_int(), asyncpg.Range(1, 5))
buffer = compiled.WriteBuffer() if hasattr(compiled, "WriteBuffer") else None
print(type(buffer).__name__, asyncpg.protocol.Record.__name__, pgproto.__name__)


async def server(reader, writer):
    """Takes a client's start, and refuses it as a server would."""
    await reader.readexactly(8)
    writer.write(b"N")
    await writer.drain()
    await reader.read(200)
    fields = b"SFATAL\0VFATAL\0C28P01\0Mno such user\0\0"
    writer.write(b"E" + (len(fields) + 4).to_bytes(4, "big") + fields)
    await writer.drain()
    writer.close()


async def main():
    serving = await asyncio.start_server(server, "127.0.0.1", 0)
    port = serving.sockets[0].getsockname()[1]
    try:
        await asyncpg.connect(host="127.0.0.1", port=port, user="u", password="p", database="d", timeout=30)
    except asyncpg.InvalidPasswordError as error:
        print(error, error.sqlstate)
    serving.close()


asyncio.run(main())
