#!/usr/bin/env python3
"""Calls every operator with random and extreme arguments, through flambeau.ops and through programs.

    PYTHONPATH=build/dev/python tests/attack/operators/attack.py --calls 500
    ... attack.py --only 'aten::pad*' --calls 5000 --seed 7
    ... attack.py --replay 'aten::pad' 17 --route program

A finding is a crash, a sanitizer's report, an exception that is neither flambeau.Error nor TypeError, an error that
calls itself internal, or a call that goes on two seconds after its time limit. Calls run in processes of their own; seed,
name and number give the same call again."""

import argparse
import fnmatch
import json
import math
import os
import pathlib
import queue
import resource
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from cases import Generator, TensorCase, Variation, map_values, parse_schema  # noqa: E402
from program_form import make_program  # noqa: E402

TIME_LIMIT = 1.0
PATIENCE = 2.0
MEMORY_LIMIT = 1 << 29
ROUTES = ("python", "program")
EXTREME_NUMBERS = [float("nan"), float("inf"), float("-inf"), 2.0**31, 2.0**40, 2.0**62, -(2.0**63), 1e300]
# Under a sanitizer everything is slow, and address space is not memory.
IS_SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")


class Caller:
    """Makes single calls in this process."""

    def __init__(self, valid_calls=None):
        import flambeau
        import numpy

        self.flambeau, self.numpy = flambeau, numpy
        self.valid_calls = json.loads(pathlib.Path(valid_calls).read_text()) if valid_calls else {}
        self.session = flambeau.Session()
        self.session.set_threads(2)
        self.session.manual_seed(0)
        self.session.set_limits(TIME_LIMIT, MEMORY_LIMIT)

    def schema(self, name):
        return parse_schema(self.session.schema(name))

    def arguments(self, name, number, seed):
        given = f"{seed}:{name}:{number}"
        generator = Variation(given, self.valid_calls[name]) if name in self.valid_calls else Generator(given)
        return generator.arguments(self.schema(name))

    def tensor(self, case):
        low, high = (0, -case.seed) if case.seed < 0 else (-3, 6)
        numbers = self.numpy.random.default_rng(abs(case.seed)).integers(low, high, size=max(case.extent(), 1))
        numbers = numbers.astype("float64")
        if case.seed > 0 and case.seed % 5 == 0:
            numbers[case.seed % len(numbers)] = EXTREME_NUMBERS[case.seed % len(EXTREME_NUMBERS)]
        with self.numpy.errstate(all="ignore"):
            flat = self.session.get("aten::to.dtype")(self.flambeau.Tensor(numbers), case.dtype)
        return self.session.get("aten::as_strided")(flat, case.sizes, case.strides, case.offset)

    def made(self, value):
        return map_values(value, lambda v: self.tensor(v) if isinstance(v, TensorCase) else v)

    def call(self, name, number, seed, route):
        """Nothing, or what was found."""
        schema = self.schema(name)
        positional, named = self.arguments(name, number, seed)
        started = time.monotonic()
        try:
            if route == "python":
                arguments = self.made(positional)
                keywords = {key: self.made(value) for key, value in named.items()}
                started = time.monotonic()
                result = self.session.get(name)(*arguments, **keywords)
            else:
                source, cases = make_program(schema, positional, named)
                inputs = [self.tensor(case) for case in cases]
                started = time.monotonic()
                program = self.flambeau.Program(self.session, source, "", 2, number % 2 == 0, False, TIME_LIMIT, MEMORY_LIMIT)
                result = program(*inputs)
            self.read(result)
        except self.flambeau.Error as error:
            if error.code == "internal":
                return f"internal error: {error}"
        except TypeError:
            pass
        except BaseException as error:  # noqa: BLE001: whatever it is, it is a finding
            return f"{type(error).__name__}: {error}"
        took = time.monotonic() - started
        return f"went on for {took:.1f} s" if took > TIME_LIMIT + PATIENCE else None

    def read(self, result):
        if isinstance(result, (list, tuple)):
            for item in result[:8]:
                self.read(item)
        elif isinstance(result, self.flambeau.Tensor):
            # Without elements it may still be endless empty lists.
            is_small = math.prod(max(size, 1) for size in result.shape) <= 4096
            if is_small and result.device == "cpu" and result.layout == "strided":
                result.tolist()
            repr(result)


def work(valid_calls):
    """A worker: takes {name, first, last, seed, route} a line, says 'B number' before a call and 'F number text' for what
    it found, and 'E' at the end."""
    if not IS_SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    caller = Caller(valid_calls)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        task = json.loads(line)
        for number in range(task["first"], task["last"]):
            out.write(f"B {number}\n")
            out.flush()
            found = caller.call(task["name"], number, task["seed"], task["route"])
            if found:
                out.write(f"F {number} {json.dumps(found)}\n")
        out.write("E\n")
        out.flush()


class Worker:
    """One process and the thread that watches it."""

    def __init__(self, tasks, report, valid_calls):
        self.tasks, self.report = tasks, report
        self.command = [sys.executable, __file__, "--worker"] + (["--valid-calls", valid_calls] if valid_calls else [])
        self.process = None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def start_process(self):
        self.errors = open(os.memfd_create("errors"), "w+b")  # noqa: SIM115: it lives as long as the process
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, bufsize=0)
        self.lines = queue.Queue()
        stdout, lines = self.process.stdout, self.lines
        threading.Thread(target=lambda: [lines.put(line) for line in stdout] and None or lines.put(None), daemon=True).start()

    def run(self):
        while True:
            try:
                task = self.tasks.get_nowait()
            except queue.Empty:
                break
            while task["first"] < task["last"]:
                task["first"] = self.run_task(task)
        if self.process:
            self.process.stdin.close()
            self.process.wait()

    def run_task(self, task):
        """Returns the number of the call to go on with."""
        if self.process is None or self.process.poll() is not None:
            self.start_process()
        self.process.stdin.write((json.dumps(task) + "\n").encode())
        number = task["first"]
        is_started = False
        while True:
            patience = (10 if IS_SANITIZED else 1) * (TIME_LIMIT + PATIENCE + 1) if is_started else 120
            try:
                line = self.lines.get(timeout=patience)
            except queue.Empty:
                self.process.kill()
                self.process.wait()
                self.report(task, number, "does not stop")
                return number + 1
            if line is None:
                status = self.process.wait()
                self.errors.seek(0)
                text = self.errors.read().decode(errors="replace")[:4000]  # a sanitizer says first what is wrong
                self.report(task, number, f"ended with status {status}: {text}")
                return number + 1
            kind, _, rest = line.decode().strip().partition(" ")
            if kind == "B":
                number, is_started = int(rest), True
            elif kind == "F":
                at, _, text = rest.partition(" ")
                self.report(task, int(at), json.loads(text))
            else:
                return task["last"]


def attack(names, calls, seed, routes, workers, say=print, valid_calls=None):
    """What was found, as (route, name, number, text)."""
    tasks, found, lock = queue.Queue(), [], threading.Lock()
    for name in names:
        for route in routes:
            tasks.put({"name": name, "first": 0, "last": calls, "seed": seed, "route": route})

    def report(task, number, text):
        with lock:
            found.append((task["route"], task["name"], number, text))
            say(f"{task['name']} {number} ({task['route']}): {text.strip()[:1500]}", flush=True)

    for worker in [Worker(tasks, report, valid_calls) for _ in range(workers)]:
        worker.thread.join()
    return found


def operator_names(pattern="*"):
    import flambeau

    return [name for name in flambeau.operators(derived=True) if fnmatch.fnmatchcase(name, pattern)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=500, help="of each overload, by each route")
    parser.add_argument("--only", default="*", help="operators whose name matches, e.g. 'aten::pad*'")
    parser.add_argument("--part", default="1/1", help="of the operators, e.g. 2/4 for the second quarter")
    parser.add_argument("--from", dest="first", default="", help="operators from that name on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--route", choices=ROUTES)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--replay", nargs=2, metavar=("NAME", "NUMBER"), help="one call, in this process")
    parser.add_argument("--valid-calls", metavar="FILE", help="vary these calls (of valid_calls.py) instead of random ones")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options.valid_calls)
    routes = [options.route] if options.route else list(ROUTES)
    if options.replay:
        name, number = options.replay[0], int(options.replay[1])
        caller = Caller(options.valid_calls)
        positional, named = caller.arguments(name, number, options.seed)
        print(caller.session.schema(name), positional, named, sep="\n", flush=True)
        for route in routes:
            print(route, caller.call(name, number, options.seed, route) or "nothing found", flush=True)
        return 0
    part, parts = map(int, options.part.split("/"))
    names = [name for name in operator_names(options.only) if name >= options.first]
    names = names[len(names) * (part - 1) // parts : len(names) * part // parts]
    started = time.monotonic()
    if options.valid_calls:
        known = json.loads(pathlib.Path(options.valid_calls).read_text())
        names = [name for name in names if name in known]
    found = attack(names, options.calls, options.seed, routes, options.workers, valid_calls=options.valid_calls)
    calls = len(names) * options.calls * len(routes)
    print(f"{len(names)} operators, {calls} calls in {time.monotonic() - started:.0f} s, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
