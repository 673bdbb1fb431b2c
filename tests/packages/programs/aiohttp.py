import asyncio

import aiohttp
from aiohttp import web


async def echo(request):
    body = await request.json()
    return web.json_response({"got": body, "query": dict(request.query)})


async def socket(request):
    answer = web.WebSocketResponse()
    await answer.prepare(request)
    async for message in answer:
        await answer.send_str(message.data.upper())
    return answer


async def main():
    application = web.Application()
    application.add_routes([web.post("/echo", echo), web.get("/socket", socket)])
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        for n in range(20):
            async with session.post("/echo?a=1", json={"n": n}) as response:
                text = await response.text()
        print(response.status, text)
        async with session.ws_connect("/socket") as ws:
            await ws.send_str("hello")
            print((await ws.receive()).data)
    await runner.cleanup()


asyncio.run(main())
