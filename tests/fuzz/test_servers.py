"""Downloads from servers that misbehave at random, by scripts made from a seed.

After every download the file must be one that the server has, whole, or there must be one line of
error and no file. A minute with the same seeds each time; with LINDROP_FUZZ_SECONDS=3600 new seeds
for an hour, LINDROP_FUZZ_SEED=17 repeats one.

What nobody can notice is not asked for: a server that sends wrong bytes in a consistent way (see
LIES and SHORT_LIES) is used only if a checksum, or at least a size, is stated.
"""

import hashlib
import os
import random
import threading
import time
from collections import Counter

import pytest

from lindrop.base.errors import UserError
from lindrop.data import web
from lindrop.data.fetch import Expected, fetch
from support.faults import GROUPS, HONEST, LIES, RANGES, SHORT_LIES, SLOW
from support.faulty_server import Server
from support.fuzzing import count as count_fuzzed

SEEDS, CHUNK = 480, 40
FOUND = [1795102549210]  # a wrong length of a chunk left wrong bytes, to which others were added
SECONDS = float(os.environ.get("LINDROP_FUZZ_SECONDS", 0))
ONE_SEED = os.environ.get("LINDROP_FUZZ_SEED")
PATIENCE = 90  # seconds after which a download counts as hanging


def make_script(rng, level):
    """Faults of the next requests: of all kinds, or many of one kind."""
    groups = [*GROUPS, HONEST, *([SLOW] if rng.random() < 0.1 else [])]
    groups += {"checksum": [LIES, SHORT_LIES], "size": [SHORT_LIES]}.get(level, [])
    how = rng.random()
    if how < 0.4:
        groups = [rng.choice(groups), ["cut"]]
    elif how < 0.6:  # a part, then wrong answers to who asks for the rest
        return ["cut", *rng.choices(RANGES, k=rng.randint(1, 4))]
    slow = 0
    script = []
    for _ in range(rng.choice([1, 2, 4, 8, 12])):
        name = rng.choice(rng.choice(groups))
        slow += name in SLOW
        script.append(name if name not in SLOW or slow < 3 else "cut")
    return script


def expectation(rng, data):
    level = rng.choice(["checksum", "size", "nothing"])
    if level == "nothing":
        return level, Expected()
    if level == "size":
        return level, Expected(bytes=len(data))
    stated = rng.choice([{"sha256"}, {"md5"}, {"sha256", "md5"}])
    digests = {name: hashlib.new(name, data).hexdigest() for name in stated}
    return level, Expected(rng.choice([None, len(data)]), **digests)


def bounded(action):
    """Run a download; AssertionError if it does not end."""
    outcome = []

    def run():
        try:
            outcome.append(action())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert outcome, "the download hangs"
    return outcome[0]


def damage(folder, rng):
    """What may happen to unfinished downloads between two runs: one is shorter, a label is none."""
    for file in folder.iterdir():
        if rng.random() < 0.3:
            data = file.read_bytes()
            garbage = [b"", b"{", b"[1]", b"null", b"\xff", b'"v1"', data[:-1]]
            labels = file.name.endswith("version")
            file.write_bytes(
                rng.choice(garbage) if labels else data[: rng.randrange(len(data) + 1)]
            )


def check(result, target, allowed, level):
    """After a download: one of the files of the server, whole; or one line and no file."""
    if isinstance(result, UserError):
        assert "\n" not in str(result)
        assert str(result).isprintable(), repr(str(result))
        assert not target.exists()
        return "refused"
    if isinstance(result, BaseException):
        raise AssertionError("not an error of the user's") from result
    data = target.read_bytes()
    assert data in allowed, f"{len(data)} bytes instead of {[len(each) for each in allowed]}"
    assert result.sha256 == hashlib.sha256(data).hexdigest()
    assert result.checked
    assert [file.name for file in target.parent.iterdir()] == [target.name]
    return f"delivered by {level}"


def case(seed, folder, counts):
    """Some downloads by a script, then one from the server when it is honest again."""
    rng = random.Random(seed)
    with Server(rng) as server:
        level, expected = expectation(rng, server.files[0])
        size = len(server.files[0])
        allowed = {"checksum": [server.files[0]], "nothing": server.files}.get(
            level, [data for data in server.files if len(data) == size]
        )
        urls = [server.url(mirror) for mirror in range(rng.choice([1, 1, 2]))]
        target = folder / f"{seed}" / "file.zip"
        for _ in range(rng.choice([1, 1, 2, 3])):
            server.script = make_script(rng, level)
            counts["requests"] += len(server.script)
            done = bounded(lambda: fetch(urls, target, expected, sleep=lambda seconds: None))
            if not (done is None and target.exists()):
                counts[check(done, target, allowed, level)] += 1
            if target.exists():
                target.unlink()
            damage(target.parent, rng)
        server.script, server.version = [], 0
        done = bounded(lambda: fetch(urls, target, expected, sleep=lambda seconds: None))
        assert check(done, target, allowed, level) != "refused", f"for ever: {done}"
        counts["cases"] += 1
        counts.update(server.faults)


def attempt(seed, folder, counts):
    try:
        case(seed, folder, counts)
    except AssertionError as error:
        cause = repr(error.__cause__) if error.__cause__ else ""
        pytest.fail(f"LINDROP_FUZZ_SEED={seed}: {error} {cause}")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Shorter limits, so that slow servers cost little; on a busy machine they mean retries."""
    monkeypatch.setattr("lindrop.data.fetch.TIMEOUT", (2, 1))
    monkeypatch.setattr(web, "BLOCK_SECONDS", 1.0)
    monkeypatch.setattr(web, "HEAD_SECONDS", 1.5)


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_seeds_that_stay_the_same(first, tmp_path):
    counts = Counter()
    for seed in range(first, first + CHUNK):
        attempt(seed, tmp_path, counts)
    assert counts["refused"] > 0
    assert sum(counts[f"delivered by {level}"] for level in ("checksum", "size", "nothing")) > 0


@pytest.mark.skipif(not SECONDS, reason="set LINDROP_FUZZ_SECONDS")
def test_new_seeds_for_a_while(tmp_path, capsys):
    counts, began, seed = Counter(), time.monotonic(), int(time.time()) * 1000
    while time.monotonic() - began < SECONDS:
        attempt(seed, tmp_path, counts)
        seed += 1
    with capsys.disabled():
        print(f"\n{dict(sorted(counts.items()))}")
    accepted = sum(n for what, n in counts.items() if what.startswith("delivered"))
    found = {"inputs": accepted + counts["refused"], "accepted": accepted}
    count_fuzzed("servers", time.monotonic() - began, found | {"refused": counts["refused"]})


@pytest.mark.parametrize("seed", FOUND)
def test_seeds_that_once_failed(seed, tmp_path):
    attempt(seed, tmp_path, Counter())


@pytest.mark.skipif(not ONE_SEED, reason="set LINDROP_FUZZ_SEED")
def test_one_seed(tmp_path):
    case(int(ONE_SEED), tmp_path, Counter())
