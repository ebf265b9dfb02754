"""The work of `pits bench` in batched PyTorch, on one thread: what one would write without pits.

  torch_reference.py REPETITIONS SECONDS WORK...     WORK is KIND:d:K:M, KIND one of step, decide, decide-all

Prints one JSON object: {"version": ..., "work": {WORK: {"seconds": ..., "p50": ..., "p99": ...}}}; the percentiles are
those of single decisions. The caller limits the threads
(OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1) and names OpenBLAS's kernels where it would not find them
(OPENBLAS_CORETYPE=SkylakeX).

A step is SVGD with Adam on M networks d-50-50-K and 512 observations, of which only the played output is fitted.
Gradients are written out, without autograd, which saves its bookkeeping. Two ways to lay out the first layer are timed,
a batched product and one wide product over all particles, and the faster one counts. The best of several repetitions
counts, as in pits.
"""
import json
import math
import sys
import time

import torch

HIDDEN = 50
BATCH = 512
HISTORY = 4096


def slope(delta, units):
    """delta where the unit is above 0: quicker than a product with a mask."""
    return torch.ops.aten.threshold_backward(delta, units, 0)


class Step:
    def __init__(self, d, actions, particles, wide):
        self.wide = wide  # the first layer as one product over all particles
        self.shapes = [(d, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, actions)]
        self.parameters = sum((i + 1) * o for i, o in self.shapes)
        self.theta = torch.randn(particles, self.parameters) / math.sqrt(d)
        self.gradient = torch.zeros_like(self.theta)
        self.mean = torch.zeros_like(self.theta)
        self.square = torch.zeros_like(self.theta)
        self.layers = self.views(self.theta)
        self.layer_gradients = self.views(self.gradient)
        self.contexts = torch.randn(HISTORY, d)
        self.actions = torch.randint(actions, (HISTORY,))
        self.rewards = torch.randn(HISTORY)
        self.steps = 0

    def views(self, block):
        """(weights (M,in,out), biases (M,1,out)) of every layer, inside the block (M,P)."""
        layers, at = [], 0
        for i, o in self.shapes:
            weights = block[:, at:at + i * o].view(-1, i, o)
            biases = block[:, at + i * o:at + i * o + o].view(-1, 1, o)
            layers.append((weights, biases))
            at += (i + 1) * o
        return layers

    def first_layer(self, x):
        weights, biases = self.layers[0]
        particles = weights.shape[0]
        if not self.wide:
            return torch.baddbmm(biases, x.expand(particles, -1, -1), weights)
        all_weights = weights.permute(1, 0, 2).reshape(x.shape[1], -1)
        return torch.addmm(biases.reshape(-1), x, all_weights).view(x.shape[0], particles, -1).transpose(0, 1)

    def score(self, x, action, reward):
        (_, _), (w2, b2), (w3, b3) = self.layers
        (g1, h1), (g2, h2), (g3, h3) = self.layer_gradients
        particles = w2.shape[0]
        z1 = self.first_layer(x).relu_()
        z2 = torch.baddbmm(b2, z1, w2).relu_()
        out = torch.baddbmm(b3, z2, w3)
        played = action.view(1, -1, 1).expand(particles, -1, 1)
        delta = torch.zeros_like(out).scatter_(2, played, (reward.view(1, -1, 1) - out.gather(2, played)) * 100.0)
        g3.copy_(torch.bmm(z2.transpose(1, 2), delta))
        h3.copy_(delta.sum(1, keepdim=True))
        delta = slope(torch.bmm(delta, w3.transpose(1, 2)), z2)
        g2.copy_(torch.bmm(z1.transpose(1, 2), delta))
        h2.copy_(delta.sum(1, keepdim=True))
        delta = slope(torch.bmm(delta, w2.transpose(1, 2)), z1)
        if self.wide:
            product = x.t() @ delta.permute(1, 0, 2).reshape(x.shape[0], -1)
            g1.copy_(product.view(x.shape[1], particles, -1).transpose(0, 1))
        else:
            g1.copy_(torch.bmm(x.t().expand(particles, -1, -1), delta))
        h1.copy_(delta.sum(1, keepdim=True))
        self.gradient.sub_(self.theta)  # the prior

    def velocity(self):
        particles = self.theta.shape[0]
        squares = torch.mm(self.theta, self.theta.t())
        norms = squares.diagonal()
        distances = (norms + norms.view(-1, 1)).sub_(squares, alpha=2.0)
        bandwidth = distances.median() / math.log(particles + 1.0)
        kernel = torch.exp(-distances / bandwidth)
        pull = torch.mm(kernel, self.gradient)
        repulsion = kernel.sum(1, keepdim=True) * self.theta - torch.mm(kernel, self.theta)
        return pull.add_(repulsion, alpha=2.0 / float(bandwidth)).div_(particles)

    def adam(self, v):
        self.steps += 1
        self.mean.mul_(0.9).add_(v, alpha=0.1)
        self.square.mul_(0.999).addcmul_(v, v, value=0.001)
        root = self.square.sqrt().div_(math.sqrt(1.0 - 0.999 ** self.steps)).add_(1e-8)
        self.theta.addcdiv_(self.mean, root, value=1e-3 / (1.0 - 0.9 ** self.steps))

    def __call__(self):
        drawn = torch.randint(HISTORY, (BATCH,))
        self.score(self.contexts[drawn], self.actions[drawn], self.rewards[drawn])
        self.adam(self.velocity())


class Decide:
    """The best action by one particle that is drawn, or by all of them with the share that agrees."""

    def __init__(self, d, actions, particles, everybody):
        self.everybody = everybody
        shapes = [(d, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, actions)]
        self.layers = [(torch.randn(particles, i, o) / math.sqrt(i), torch.randn(particles, 1, o)) for i, o in shapes]
        self.one = [[(w[m].t().contiguous(), b[m, 0].clone()) for w, b in self.layers] for m in range(particles)]
        self.contexts = torch.randn(64, d)
        self.round = 0

    def __call__(self):
        self.round += 1
        x = self.contexts[self.round % 64]
        if self.everybody:
            return self.vote(x)
        (w1, b1), (w2, b2), (w3, b3) = self.one[self.round % len(self.one)]
        z = torch.addmv(b1, w1, x).relu_()
        z = torch.addmv(b2, w2, z).relu_()
        return int(torch.addmv(b3, w3, z).argmax())

    def vote(self, x):
        (w1, b1), (w2, b2), (w3, b3) = self.layers
        z = torch.baddbmm(b1, x.expand(w1.shape[0], 1, -1), w1).relu_()
        z = torch.baddbmm(b2, z, w2).relu_()
        preferred = torch.baddbmm(b3, z, w3).argmax(2).view(-1)
        action = preferred[self.round % preferred.shape[0]]
        return int(action), float((preferred == action).float().mean())


def mean_time(work, seconds):
    """CPU seconds of a call, on average: other programs on the machine do not count."""
    calls, start = 0, time.thread_time()
    while time.thread_time() - start < seconds or calls == 0:
        work()
        calls += 1
    return (time.thread_time() - start) / calls


def single_times(work, seconds):
    """(median, 99th percentile) of the wall times of single calls."""
    single, start = [], time.thread_time()
    while time.thread_time() - start < seconds or not single:
        before = time.perf_counter()
        work()
        single.append(time.perf_counter() - before)
    single.sort()
    return tuple(single[int(share * (len(single) - 1))] for share in (0.5, 0.99))


def measure(work, repetitions, seconds):
    work()
    result = {"seconds": min(mean_time(work, seconds) for _ in range(repetitions))}
    if isinstance(work, Decide):
        result["p50"], result["p99"] = min(single_times(work, seconds) for _ in range(repetitions))
    return result


def candidates(kind, d, actions, particles):
    if kind == "step":
        return [Step(d, actions, particles, wide) for wide in (False, True)]
    return [Decide(d, actions, particles, everybody=kind == "decide-all")]


def main(repetitions, seconds, names):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    results = {}
    with torch.inference_mode():
        for name in names:
            kind, d, actions, particles = name.split(":")
            shape = (int(d), int(actions), int(particles))
            results[name] = min((measure(w, repetitions, seconds) for w in candidates(kind, *shape)),
                                key=lambda r: r["seconds"])
    json.dump({"version": torch.__version__, "work": results}, sys.stdout)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
