import threading

import zmq

with zmq.Context() as context, context.socket(zmq.REP) as server:
    port = server.bind_to_random_port("tcp://127.0.0.1")

    def ask(n, answers):
        with context.socket(zmq.REQ) as client:
            client.connect(f"tcp://127.0.0.1:{port}")
            client.send_json({"n": n})
            answers.append(client.recv_json())

    answers = []
    threads = [threading.Thread(target=ask, args=(n, answers)) for n in range(5)]
    for thread in threads:
        thread.start()
    for _ in threads:
        server.send_json({"double": 2 * server.recv_json()["n"]})
    for thread in threads:
        thread.join()
    print(sorted(answer["double"] for answer in answers))
    with context.socket(zmq.PUB) as pub, context.socket(zmq.SUB) as sub:
        sub.setsockopt(zmq.RCVTIMEO, 20000)
        pub.bind("inproc://x")
        sub.connect("inproc://x")
        sub.subscribe(b"a")
        frame = zmq.Frame(b"a frame")
        pub.send(frame, copy=False)
        print(sub.recv(copy=False).bytes)
print(zmq.zmq_version(), zmq.backend.Frame.__module__)
