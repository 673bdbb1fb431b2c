import asyncio

from tornado import httpclient, httpserver, netutil, speedups, web


class Handler(web.RequestHandler):
    async def get(self, name):
        self.write({"name": name, "arguments": self.get_arguments("x")})


async def main():
    server = httpserver.HTTPServer(web.Application([("/(.*)", Handler)]))
    sockets = netutil.bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    answer = await httpclient.AsyncHTTPClient().fetch(f"http://127.0.0.1:{sockets[0].getsockname()[1]}/me?x=1&x=2")
    print(answer.code, answer.body)
    server.stop()


asyncio.run(main())
print(speedups.websocket_mask(b"abcd", b"12345678"))
