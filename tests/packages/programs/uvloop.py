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


async def echo(n):
    """By a child process, whose end uvloop learns of by SIGCHLD."""
    child = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    out, _ = await child.communicate(b"child %d" % n)
    return out, child.returncode


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(await asyncio.gather(*(talk(port, n) for n in range(10))))
    for n in range(5):
        print(await asyncio.gather(*(echo(10 * n + k) for k in range(4))))
    failing = await asyncio.create_subprocess_exec("sh", "-c", "exit 7")
    print(await failing.wait())
    print(await asyncio.get_running_loop().run_in_executor(None, sum, range(1000)))
    server.close()
    await server.wait_closed()


with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(main())
    print(type(runner.get_loop()).__module__)
