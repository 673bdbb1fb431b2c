from concurrent import futures

import grpc


class Service(grpc.GenericRpcHandler):
    def service(self, details):
        if details.method == "/Test/Upper":
            return grpc.unary_unary_rpc_method_handler(lambda request, context: request.upper())
        if details.method == "/Test/Count":
            return grpc.unary_stream_rpc_method_handler(lambda request, context: (b"%d" % i for i in range(int(request))))


server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[Service()])
port = server.add_insecure_port("127.0.0.1:0")
server.start()
with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
    upper = channel.unary_unary("/Test/Upper")
    print([upper(b"a%d" % i, timeout=60) for i in range(20)][-1])
    print(b" ".join(channel.unary_stream("/Test/Count")(b"5", timeout=60)))
    try:
        channel.unary_unary("/Test/Unknown")(b"", timeout=60)
    except grpc.RpcError as error:
        print(error.code())
server.stop(None).wait()
