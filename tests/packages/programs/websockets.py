import asyncio

import websockets
from websockets import speedups


async def echo(connection):
    async for message in connection:
        await connection.send(message[::-1])


async def main():
    async with websockets.serve(echo, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with websockets.connect(f"ws://127.0.0.1:{port}") as client:
            for n in range(50):
                await client.send(f"message {n}" * 50)
                answer = await client.recv()
            print(answer[:20], len(answer))


asyncio.run(main())
print(speedups.apply_mask(b"12345678", b"abcd"))
