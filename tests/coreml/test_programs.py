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


@pytest.fixture(scope='module')
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp('models')
    with tarfile.open(os.path.join(HERE, 'models.tar.xz')) as archive:
        archive.extractall(folder, filter='data') if hasattr(tarfile, 'data_filter') else archive.extractall(folder)
    return folder


def test_a_state_is_kept_from_run_to_run(models):
    wick = pytest.importorskip('wick')
    session = wick.InferenceSession(str(models / 'counter.mlpackage'))
    x = np.array([1, 2, -3], np.float16)
    assert len(session.get_states()) == 1
    for k in range(1, 4):
        np.testing.assert_array_equal(session.run(None, {'x': x})[0], 2 * k * x)


def test_labels(models, tmp_path):
    np.save(tmp_path / 'x.npy', np.array([[1, 3, 2]], np.float32))
    done = subprocess.run([WICK, 'run', str(models / 'classifier.mlpackage'), '--inputs', str(tmp_path / 'x.npy'),
                           '--reference'], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 'string[1]  dog' in done.stdout
    assert done.stdout.split('%')[0].split()[-1] == '66.524', done.stdout


def damaged(data, rng):
    """Bytes with a few of them changed, or cut off."""
    data = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        data[rng.integers(len(data))] = rng.choice([rng.integers(256), 0, 1, 127, 128, 255])
    return bytes(data[:rng.integers(1, len(data))]) if rng.integers(8) == 0 else bytes(data)


def test_damaged_programs_are_refused_or_run(programs, tmp_path):
    """No damage makes the reader crash, hang or take much memory."""
    import resource
    rng = np.random.default_rng(int(os.environ.get('WICK_SEED', 7)))
    names = sorted(os.listdir(programs))
    target = tmp_path / 'm.mlpackage' / 'Data' / 'com.apple.CoreML'
    (target / 'weights').mkdir(parents=True)
    for _ in range(int(os.environ.get('WICK_DAMAGED', 120))):
        name = names[rng.integers(len(names))]
        source = programs / name / 'm.mlpackage'
        (tmp_path / 'm.mlpackage' / 'Manifest.json').write_bytes((source / 'Manifest.json').read_bytes())
        weights = source / 'Data' / 'com.apple.CoreML' / 'weights' / 'weight.bin'
        model = (source / 'Data' / 'com.apple.CoreML' / 'model.mlmodel').read_bytes()
        blob = weights.read_bytes() if weights.exists() else b''
        if blob and rng.integers(3) == 0:
            blob = damaged(blob, rng)
        else:
            model = damaged(model, rng)
        (target / 'model.mlmodel').write_bytes(model)
        (target / 'weights' / 'weight.bin').write_bytes(blob)
        done = subprocess.run([WICK, 'check', str(tmp_path / 'm.mlpackage')], capture_output=True, timeout=20,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)))
        if done.returncode < 0 or b'memory' in done.stderr:
            kept = tmp_path / 'kept'
            os.rename(tmp_path / 'm.mlpackage', kept)
            raise AssertionError('%s: status %d, %s: %s' % (name, done.returncode, kept, done.stderr[:300]))
