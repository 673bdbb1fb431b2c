import threading

import setproctitle


def work(n, titles):
    setproctitle.setthreadtitle(f"thread {n}")
    titles.append(setproctitle.getthreadtitle())


titles = []
threads = [threading.Thread(target=work, args=(n, titles)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(titles))
