"""What the functions of programs/library.wick give, by Python's own containers."""

from collections import Counter


def counted():
    c = Counter(i * 7919 % 1009 for i in range(3000))
    for i in range(500):
        c.pop(i, None)
    return len(c), sum(k * v for k, v in c.items()), 3 in c, 700 in c


def colliding():
    kept = range(1, 3000, 2)
    return len(kept), sum(i**3 for i in kept), 49


def digest(numbers, times, start=0):
    for x in numbers:
        start = (start * times + x) % 1000003
    return start


def arrays():
    return 100, -5, 1000, digest((i * i % 17 for i in range(1000)), 3)


def lists():
    x = [i * 7919 % 10007 for i in range(2000)]
    sums = [sum(x[: i + 1]) for i in range(len(x))]
    parted = [y for y in x if y % 2] + [y for y in x if y % 2 == 0]
    head = next(i for i, y in enumerate(x) if y >= 9000)
    return digest(sorted(x), 31), digest(parted, 31), digest(sums, 31), digest((a * b for a, b in zip(x, x[::-1], strict=True)), 31), head


def grown(d):
    return [d] + [v for i in range(d) for v in grown(i)]


def trees():
    values = grown(8)
    return len(values), 9, sum(v * v for v in values)


LIBRARY = {
    "counted": counted, "colliding": colliding, "arrays": arrays, "lists": lists, "trees": trees,
    "slopes": lambda: (1 / 6, 20.0, 8.0 * 27.0),
}  # fmt: skip
