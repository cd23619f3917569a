"""ML programs, one or more for each operation, against the outputs that make_programs.py wrote."""
import os
import subprocess
import tarfile
import zlib

import numpy as np
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
WICK = os.environ.get('WICK_COMMAND', 'build/wick')
EVERY = 24  # of which one program is compiled, too; WICK_PROGRAMS=1 compiles all


@pytest.fixture(scope='module')
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp('programs')
    with tarfile.open(os.path.join(HERE, 'programs.tar.xz')) as archive:
        archive.extractall(folder, filter='data') if hasattr(tarfile, 'data_filter') else archive.extractall(folder)
    return folder


def difference(got, want):
    """Why an output is wrong; '' if it is right."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return 'it is %s%s, expected %s%s' % (got.dtype, got.shape, want.dtype, want.shape)
    if want.dtype.kind != 'f':
        return '' if (got == want).all() else 'it is\n%s\nexpected\n%s' % (got, want)
    # a float16 has 11 bits; coremltools computes some operations in several steps of them
    rtol, atol = (4e-3, 4e-3) if want.dtype == np.float16 else (2e-5, 2e-5)
    good = np.isclose(got.astype(np.float64), want.astype(np.float64), rtol, atol, equal_nan=True)
    return '' if good.all() else 'it is\n%s\nexpected\n%s' % (got, want)


def run(folder, out, *options):
    """What is wrong with a program; '' if nothing is."""
    names = sorted(os.listdir(folder))
    inputs = [str(folder / n) for n in names if n.startswith('input')]
    wants = [n for n in names if n.startswith('output')]
    done = subprocess.run([WICK, 'run', str(folder / 'm.mlpackage'), *(['--inputs', *inputs] if inputs else []),
                           '--outputs', str(out), *options], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip() or 'status %d' % done.returncode
    for k, name in enumerate(wants):
        wrong = difference(np.load(out / ('output_%d.npy' % k)), np.load(folder / name))
        if wrong:
            return 'output %d: %s' % (k, wrong)
    return ''


def check(programs, tmp_path, chosen, *options):
    wrong = []
    for name in chosen:
        why = run(programs / name, tmp_path / name, *options)
        if why:
            wrong.append('%s: %s' % (name, why))
    assert not wrong, '%d of %d programs:\n%s' % (len(wrong), len(chosen), '\n'.join(wrong))


def test_every_program_by_the_definitions(programs, tmp_path):
    check(programs, tmp_path, sorted(os.listdir(programs)), '--reference')


def test_compiled_programs(programs, tmp_path):
    every = int(os.environ.get('WICK_PROGRAMS', EVERY))
    names = sorted(os.listdir(programs))
    check(programs, tmp_path, [n for n in names if zlib.crc32(n.encode()) % every == 0])
