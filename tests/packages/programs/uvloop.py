import asyncio

import uvloop


async def serve(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()


async def talk(port, n):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"line {n}\n".encode())
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return line


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(await asyncio.gather(*(talk(port, n) for n in range(10))))
    print(await asyncio.get_running_loop().run_in_executor(None, sum, range(1000)))
    server.close()
    await server.wait_closed()


with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(main())
    print(type(runner.get_loop()).__module__)
