import io

import line_profiler


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


profile = line_profiler.LineProfiler(work)
print(profile.runcall(work, 100))
((_, timings),) = profile.get_stats().timings.items()
print([hits for _, hits, _ in timings])
