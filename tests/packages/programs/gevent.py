import gevent
import gevent.pool
import gevent.queue
import gevent.server
import gevent.socket


def echo(socket, address):
    while data := socket.recv(100):
        socket.sendall(data.upper())


server = gevent.server.StreamServer(("127.0.0.1", 0), echo)
server.start()


def talk(n):
    with gevent.socket.create_connection(("127.0.0.1", server.server_port)) as socket:
        socket.sendall(b"hello %d" % n)
        return socket.recv(100)


print(gevent.pool.Pool(4).map(talk, range(10)))
server.stop()
queue = gevent.queue.Queue()
gevent.spawn(lambda: [queue.put(i) or gevent.sleep(0) for i in range(5)])
print([queue.get() for _ in range(5)], gevent.get_hub().threadpool.apply(sum, ([1, 2, 3],)))
with gevent.Timeout(0.01, False):
    gevent.sleep(5)
print(type(gevent.get_hub().loop).__module__)
gevent.get_hub().destroy(destroy_loop=True)
