"""How long a reward and a decision take from Python while trainings run, on the log that bench_live has made.

    PYTHONPATH=build/release/python python3 bench/log/live.py DIRECTORY [SECONDS]

One thread sends a reward every millisecond and another decides as often, as in bench_live; latencies are given apart for the
time in which a training was under way.
"""
import pathlib
import random
import sys
import threading
import time

import pits

FEATURES = 9


class Latencies:
    def __init__(self):
        self.training, self.idle = [], []

    def time(self, live, call):
        under_way = live.status.training
        start = time.perf_counter()
        result = call()
        (self.training if under_way else self.idle).append(1e6 * (time.perf_counter() - start))
        return result

    def show(self, what):
        for name, values in ("a training under way", sorted(self.training)), ("none", sorted(self.idle)):
            if values:
                at = [values[int(share * (len(values) - 1))] for share in (0.5, 0.99, 0.999, 1.0)]
                print("%-34s n %6d  p50 %7.0f  p99 %7.0f  p99.9 %7.0f  max %7.0f µs" % (f"{what}, {name}", len(values), *at))


def every_millisecond(seconds, work):
    start = time.perf_counter()
    for n in range(int(1000 * seconds)):
        time.sleep(max(0.0, start + 0.001 * n - time.perf_counter()))
        work()


def context(source):
    return [source.gauss(0.0, 1.0) for _ in range(FEATURES)]


def measure(live, seconds):
    decisions, rewards = Latencies(), Latencies()

    def decide():
        source = random.Random(2)
        every_millisecond(seconds, lambda: decisions.time(live, lambda x=context(source): live.decide(x)))

    def reward():
        source = random.Random(3)

        def work():
            decision = live.decide(context(source))
            rewards.time(live, lambda: live.reward(decision, source.random()))
        every_millisecond(seconds, work)

    before = live.status.trainings
    thread = threading.Thread(target=decide)
    thread.start()
    reward()
    thread.join()
    print(f"Python: {live.status.trainings - before} trainings adopted in {seconds} s")
    rewards.show("reward")
    decisions.show("decide")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with pits.LiveBandit(pathlib.Path(sys.argv[1]) / "live") as bandit:
        measure(bandit, float(sys.argv[2]) if len(sys.argv) > 2 else 10.0)
