"""A picture of the networks' table: bars and marks over the fastest peer's time, a panel for each number of threads."""

import html

LABEL, VALUE, PANEL, GAP, ROW, TOP, RIGHT = 104, 40, 350, 24, 25, 86, 16
WICK, FLOOR, INK, PALE, MARK = "#2f6fb5", "#12314f", "#222222", "#d9d9d9", ("#d1603d", "#3d8f5b", "#8a5fb0")
MOST = 2.4  # larger values end in an arrow


def text(x, y, s, size=13, anchor="start", color=INK, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}" '
            f'font-weight="{weight}">{html.escape(s)}</text>')  # fmt: skip


def mark(k, x, y):
    """The k-th peer's: a circle, a square, a diamond."""
    color = MARK[k % len(MARK)]
    if k % 3 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"/>'
    turn = f' transform="rotate(45 {x:.1f} {y:.1f})"' if k % 3 == 2 else ""
    return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{color}"{turn}/>'


def scale(value):
    return PANEL * min(value, MOST) / MOST


def panel(left, title, rows):
    """rows: name, Wick's time over the fastest peer's, the floor's, those of the peers."""
    zero, bottom = left + VALUE, TOP + ROW * len(rows)
    out = [text(left, TOP - 14, title, 14, weight="bold")]
    for tick in (0, 0.5, 1, 1.5, 2):
        x, strong = zero + scale(tick), tick == 1
        out.append(f'<line x1="{x:.1f}" y1="{TOP - 4}" x2="{x:.1f}" y2="{bottom}" stroke="{INK if strong else PALE}" '
                   f'stroke-width="{1.2 if strong else 1}"/>')  # fmt: skip
        out.append(text(x, bottom + 16, f"{tick:g}", 12, "middle"))
    for i, (name, wick, floor, others) in enumerate(rows):
        y = TOP + ROW * i + ROW / 2
        weight = "bold" if name == "geometric mean" else "normal"
        out.append(text(zero - 7, y + 4.5, f"{wick:.2f}", 12.5, "end", weight=weight))
        out.append(f'<rect x="{zero}" y="{y - 8:.1f}" width="{scale(wick):.1f}" height="16" fill="{WICK}"/>')
        if floor:
            x = zero + scale(floor)
            out.append(f'<line x1="{x:.1f}" y1="{y - 10:.1f}" x2="{x:.1f}" y2="{y + 10:.1f}" stroke="{FLOOR}" '
                       'stroke-width="2.5"/>')  # fmt: skip
        for k, other in enumerate(others):
            at = y + 8 * (k - (len(others) - 1) / 2)
            out.append(mark(k, zero + scale(other), at))
            if other > MOST:
                out.append(text(zero + PANEL - 9, y + 4.5, f"{other:.1f} →", 12, "end"))
    return out


def legend(peers, floors):
    out, x, y = [], LABEL, 44
    out.append(f'<rect x="{x}" y="{y - 8}" width="22" height="16" fill="{WICK}"/>')
    out.append(text(x + 28, y + 4.5, "Wick"))
    x += 84
    if floors:
        out.append(f'<line x1="{x}" y1="{y - 10}" x2="{x}" y2="{y + 10}" stroke="{FLOOR}" stroke-width="2.5"/>')
        out.append(text(x + 8, y + 4.5, "the machine's floor for Wick's kernels"))
        x += 300
    for k, name in enumerate(peers):
        out.append(mark(k, x, y))
        out.append(text(x + 9, y + 4.5, name))
        x += 36 + 8 * len(name)
    return out


def draw(title, panels, peers):
    """panels: (title, rows) of equal names, one or two; the SVG."""
    rows = len(panels[0][1])
    width = LABEL + len(panels) * (VALUE + PANEL + GAP) + RIGHT - GAP
    height = TOP + ROW * rows + 46
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
           'font-family="DejaVu Sans, Helvetica, Arial, sans-serif">',
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>', text(LABEL, 22, title, 16, weight="bold")]  # fmt: skip
    out += legend(peers, any(floor for _, found in panels for _, _, floor, _ in found))
    for i, (name, *_) in enumerate(panels[0][1]):
        short = "mean" if name == "geometric mean" else name
        weight = "bold" if short == "mean" else "normal"
        out.append(text(LABEL - 8, TOP + ROW * i + ROW / 2 + 4.5, short, 12.5, "end", weight=weight))
    for k, (name, found) in enumerate(panels):
        out += panel(LABEL + k * (VALUE + PANEL + GAP), name, found)
    out.append(text(LABEL, height - 8, "time over that of the fastest peer; less is better", 12))
    return "\n".join([*out, "</svg>", ""])
