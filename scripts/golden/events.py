#!/usr/bin/env python3
"""Writes a group of one event of every kind in the log's binary form, from the layout stated in src/pits/log/event.h.

    scripts/golden/events.py tests/log/fixtures/group-1.bin
    scripts/golden/events.py --check tests/log/fixtures/group-1.bin   # are these the bytes that it has?

The fixture is frozen: later versions of pits read it. A changed layout gets another number and another fixture.
"""
import hashlib
import struct
import sys


def u64(n):
    return struct.pack("<Q", n)


def u32(n):
    return struct.pack("<I", n)


def f32(*values):
    return b"".join(struct.pack("<f", v) for v in values)


def text(s):
    return u64(len(s.encode())) + s.encode()


def texts(*values):
    return u64(len(values)) + b"".join(text(v) for v in values)


def pairs(*values):
    return u64(len(values)) + b"".join(text(k) + text(v) for k, v in values)


def floats(*values):
    return u64(len(values)) + f32(*values)


def event(tag, fields, version=1):
    return bytes([tag, version]) + u32(len(fields)) + fields


events = [
    event(1, text("lin-ts,lambda=0.25") + u64(3) + u64(42) + texts("a", "b")
          + pairs(("window", "600"), ("floor", "0.02")) + text("{}") + text("0.1.0 AVX2")),
    event(2, u64(65536)),
    event(3, u64(7) + text("visit-9") + u64(2) + u32(1) + b"\0" + f32(0.02) + f32(0.125) + floats(0.25, 0.75)
          + u64(2) + b"\1\1" + floats(1.0, -2.5, 0.0) + floats(3.0, 4.0) + text('{"age":30}')),
    event(4, u64(7) + u64(3)),
    event(5, u64(7) + u64(4) + f32(0.5) + text("click")),
    event(6, u64(7) + u64(5) + f32(0.5) + b"\0"),
    event(7, u32(2) + texts("c")),
    event(8, u32(0)),
    event(9, pairs(("window", "60"))),
    event(10, text("0.2.0 AVX3")),
    event(11, u64(10) + u64(1) + text("older than 30 days")),
]
group = b"\1" + struct.pack("<qq", 1_800_000_000_123_456, 77) + u32(len(events)) + b"".join(events)
group += hashlib.sha256(group).digest()[:8]
if sys.argv[1] == "--check":
    with open(sys.argv[2], "rb") as frozen:
        sys.exit(0 if frozen.read() == group else f"{sys.argv[2]} has not the bytes that the layout of event.h gives")
with open(sys.argv[1], "wb") as out:
    out.write(group)
