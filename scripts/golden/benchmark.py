#!/usr/bin/env python3
"""Prints the numbers of tests/data/load_test.cpp, read straight from the data files.

Needs NumPy and the directory of the files: benchmark.py [DIRECTORY], or the variable PITS_DATA. Uses nothing of this
project. For each set: shape, rows per class, first row (column, value) and three sums over all entries x_ij in the
order of the file: Σ (j+1) x_ij, Σ (j+1) x_ij (class_i + 1), Σ (j+1) x_ij (i mod 97). Columns: numbers first, then the
one-hot columns; levels and classes in the order of their numbers where all are numbers, else of their text.
"""
import gzip
import hashlib
import lzma
import os
import pathlib
import sys

import numpy as np


def levels_of(column):
    """The different texts of a column, in order, and the place of each row's among them."""
    try:
        column = column.astype(int)
    except ValueError:
        pass
    return np.unique(column, return_inverse=True)


def one_hot(column):
    levels, index = levels_of(column)
    return np.eye(len(levels))[index]


def table(rows, numeric, categorical, label):
    """(N, d) contexts and (N) class numbers of rows of text."""
    text = np.array(rows)
    blocks = [text[:, numeric].astype(float)] if numeric else []
    blocks += [one_hot(text[:, j]) for j in categorical]
    classes, y = levels_of(text[:, label])
    return np.hstack(blocks), y, classes


def show(name, x, y=None, classes=()):
    """Data sets have whole numbers below 2^53 / N: their sums are exact. The financial ones are not."""
    weighted = x @ (np.arange(x.shape[1]) + 1.0)
    row = np.arange(len(x)) % 97
    print(name)
    print("  rows, width     ", *x.shape)
    if y is not None:
        print("  classes         ", *classes[:1], "..", *classes[-1:], np.bincount(y).tolist())
        print("  first class     ", y[0])
    print("  sum             ", repr(float(weighted.sum())))
    if y is not None:
        print("  sum by class    ", repr(float((weighted * (y + 1)).sum())))
    print("  sum by row      ", repr(float((weighted * row).sum())))
    print("  first row       ", [(int(j), float(x[0, j])) for j in np.flatnonzero(x[0])])


def lines(text):
    return [line for line in text.splitlines() if line.strip()]


def statlog(read):
    x = np.array([line.split() for line in lines(read("shuttle.trn"))], dtype=float)
    show("statlog", x[:, :9], x[:, 9].astype(int) - 1, ["1", "7"])


def covertype(read):
    x = np.loadtxt(lines(gzip.decompress(read("covtype.data.gz", raw=True)).decode()), delimiter=",")
    show("covertype", x[:, :54], x[:, 54].astype(int) - 1, ["1", "7"])


def adult(read):
    """Rows with '?' are dropped; the dots of adult.test's income labels stay."""
    rows = [[f.strip() for f in line.split(",")] for line in lines(read("adult.data")) + lines(read("adult.test"))[1:]]
    numeric = [0, 2, 4, 10, 11, 12]
    categorical = [j for j in range(15) if j not in numeric + [6]]
    show("adult", *table([r for r in rows if "?" not in r], numeric, categorical, 6))


def census(read):
    rows = [line.split(",") for line in lines(lzma.decompress(read("USCensus1990.data.txt.xz", raw=True)).decode())[1:]]
    show("census", *table(rows, [], [j for j in range(1, 69) if j != 35], 35))


def mushroom(read):
    rows = [line.split(",") for line in lines(read("agaricus-lepiota.data"))]
    show("mushroom", *table(rows, [], list(range(1, 23)), 0))


def financial(read):
    rows = np.array([line.split() for line in lines(read("raw_stock_contexts"))[1:]], dtype=float)
    show("financial", rows.astype(np.float32).astype(float))


def jester(directory):
    ratings = np.load(directory / "jester_data_40jokes_19181users.npy")
    print("jester")
    print("  rows, width     ", *ratings.shape)
    print("  entries         ", ratings[0, 0], ratings[0, 4], ratings[19180, 35], ratings[19180, 39])
    print("  sum             ", repr(float(ratings.sum())))


def main(directory):
    def read(name, raw=False):
        data = (directory / name).read_bytes()
        print(f"# {name}: sha256 {hashlib.sha256(data).hexdigest()}")
        return data if raw else data.decode()

    for one in (statlog, covertype, adult, census, mushroom, financial):
        one(read)
    jester(directory)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["PITS_DATA"]))
