"""Whole programs with what PyTorch makes of them: a .pt2 file, calls, and the results of these, kept in build/models.

  graphs.NAME                      real graphs with made-up weights (real_graphs)
  examples.NAME                    the export cases that PyTorch documents (../programs_examples)
  transformers.NAME[.dynamic]      tiny models of the transformers library (transformers_models)
  random.NUMBER                    random programs over many operators (random_programs)

Static ones of the first three also as NAME.decomposed: the same after run_decompositions().

python model_cases.py [--jobs N] [NAME...]   makes those that are not there yet: all, those named, or whose name starts so
python model_cases.py --operators FILE       also writes a list of all operators in them
python model_cases.py --list                 the names
"""

import argparse
import collections
import copy
import dataclasses
import hashlib
import importlib.metadata
import operator
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import torch

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [path for path in (os.fspath(HERE), os.fspath(HERE.parent)) if path not in sys.path]

import programs  # noqa: E402
import programs_examples  # noqa: E402, F401
import random_programs  # noqa: E402
import real_graphs  # noqa: E402

try:
    TRANSFORMERS = importlib.metadata.version("transformers")
except importlib.metadata.PackageNotFoundError:
    TRANSFORMERS = None

FOLDER = pathlib.Path(os.environ.get("FLAMBEAU_MODELS", ROOT / "build/models"))
ALL_MODELS = bool(os.environ.get("FLAMBEAU_ALL_MODELS"))
RANDOM_PROGRAMS = 300 if ALL_MODELS else 60

# PyTorch 2.13 cannot decompose them.
NOT_DECOMPOSABLE = {
    "transformers.gpt2": "the decomposition of attention gives other strides than the graph was traced with",
}


@dataclasses.dataclass
class Case:
    """A saved program. A call has args, kwargs, outputs, and after: the args and kwargs as the call left them."""

    path: pathlib.Path
    calls: list


@dataclasses.dataclass
class Made:
    """A program and what to call it with, in this order: a later call sees the buffers an earlier one changed."""

    program: torch.export.ExportedProgram
    inputs: list


def transformers_names():
    if TRANSFORMERS is None:
        return []
    import transformers_models

    chosen = [name for name in transformers_models.MODELS if ALL_MODELS or name not in transformers_models.RELATIVES]
    return [name + kind for name in chosen for kind in ("", ".dynamic")]


def names():
    """Every case that can be made here."""
    plain = [f"graphs.{name}" for name in real_graphs.names()]
    plain += [name for name in programs.PROGRAMS if name.startswith("examples.") and not name.endswith(".decomposed")]
    plain += [f"transformers.{name}" for name in transformers_names()]
    static = [name for name in plain if not name.endswith((".strict", ".dynamic"))]
    decomposed = [f"{name}.decomposed" for name in static if name not in NOT_DECOMPOSABLE]
    if not ALL_MODELS:  # the examples are quick
        decomposed = [name for name in decomposed if name.startswith("examples.")]
    return plain + decomposed + [f"random.{number}" for number in range(RANDOM_PROGRAMS)]


def make(name):
    group, _, rest = name.partition(".")
    if group == "random":
        return Made(*random_programs.export(int(rest)))
    plain = rest.removesuffix(".decomposed")
    if group == "graphs":
        program, args = real_graphs.export(plain)
        made = Made(program, [(args, {})])
    elif group == "examples":
        program = programs.build(f"examples.{plain}")[0]["model"]
        made = Made(program, [programs.inputs(program)] * 2)
    else:
        import transformers_models

        model = plain.removesuffix(".dynamic")
        dynamic = plain != model
        sizes = transformers_models.SIZES[: 2 if dynamic else 1]
        made = Made(transformers_models.export(model, dynamic), [((), transformers_models.inputs(model, size)) for size in sizes])
    if plain != rest:
        made.program = made.program.run_decompositions()
    return made


def expected(made):
    """What PyTorch gives for every call, with the generator seeded before each."""
    module = made.program.module()
    calls = []
    for args, kwargs in copy.deepcopy(made.inputs):
        before = copy.deepcopy((args, kwargs))
        torch.manual_seed(0)
        with torch.no_grad():
            outputs = module(*args, **kwargs)
        calls.append({"args": before[0], "kwargs": before[1], "outputs": detached(outputs), "after": detached((args, kwargs))})
    return calls


def detached(value):
    copied = lambda leaf: leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf  # noqa: E731
    return torch.utils._pytree.tree_map(copied, value)


def key(group):
    """Changes whenever a case may: with PyTorch, transformers and what makes the cases."""
    sources = {"graphs": ["real_graphs.py"], "transformers": ["transformers_models.py"], "random": ["random_programs.py"]}
    paths = [HERE / name for name in sources.get(group, [])] or [HERE.parent / "programs.py", HERE.parent / "programs_examples.py"]
    digest = hashlib.sha256(f"2 {torch.__version__} {TRANSFORMERS if group == 'transformers' else ''}".encode())
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def paths(name):
    group = name.partition(".")[0]
    folder = FOLDER / f"{group}-{key(group)}"
    return folder / f"{name}.pt2", folder / f"{name}.calls"


def case(name):
    """Made when it is not there yet."""
    program, calls = paths(name)
    if not calls.exists():
        programs.quiet()
        program.parent.mkdir(parents=True, exist_ok=True)
        made = make(name)
        with tempfile.TemporaryDirectory(dir=program.parent) as part:
            part = pathlib.Path(part)
            torch.save(expected(made), part / calls.name)
            torch.export.save(made.program, part / program.name)
            os.replace(part / program.name, program)
            os.replace(part / calls.name, calls)  # last: it says that both are there
    return Case(program, torch.load(calls, weights_only=False))


def make_all(wanted, jobs):
    """Makes what is not there yet in processes of its own; gives the reasons of those that failed, by name."""
    missing = [name for name in wanted if not paths(name)[1].exists()]
    if not missing:
        return {}
    for old in FOLDER.glob("*-*"):
        if old.name != f"{old.name.partition('-')[0]}-{key(old.name.partition('-')[0])}":
            subprocess.run(["rm", "-rf", os.fspath(old)], check=True)
    shares = [missing[i::jobs] for i in range(jobs) if missing[i::jobs]]
    command = [sys.executable, __file__, "--jobs", "0"]
    running = [subprocess.Popen([*command, *share], stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL) for share in shares]
    said = [line for process in running for line in process.communicate()[0].splitlines()]
    return dict(line.split("\t", 1) for line in said if "\t" in line)


def targets(program):
    """The operators of a program and of the graphs inside it, as PyTorch prints them, with how often they occur."""
    found = collections.Counter()
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                if node.op == "call_function":
                    found[target_name(node.target)] += 1
    return found


def target_name(target):
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.name()}"
    if getattr(target, "__module__", None) == operator.__name__:
        return f"_operator.{target.__name__}"
    return f"{target.__module__}.{target.__name__}"


def list_operators(wanted, path):
    """A line for each operator: name, number of programs that use it, number of calls, in which groups."""
    if TRANSFORMERS:
        import transformers  # noqa: F401  its own operators must be known when a file is opened
    uses, calls, groups = collections.Counter(), collections.Counter(), collections.defaultdict(set)
    for name in wanted:
        if name.startswith("random."):
            continue
        try:
            program = torch.export.load(case(name).path)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:100]}", file=sys.stderr)
            continue
        for target, count in targets(program).items():
            uses[target] += 1
            calls[target] += count
            groups[target].add(name.partition(".")[0] + (".decomposed" if name.endswith(".decomposed") else ""))
    head = "# operators of the programs of model_cases.py: operator, programs, calls, groups; made by model_cases.py --operators\n"
    head += f"# PyTorch {torch.__version__.partition('+')[0]}, transformers {TRANSFORMERS}\n"
    lines = [f"{name}\t{uses[name]}\t{calls[name]}\t{' '.join(sorted(groups[name]))}\n" for name in sorted(uses, key=lambda n: (-uses[n], n))]
    pathlib.Path(path).write_text(head + "".join(lines))
    print(f"{len(lines)} operators in {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--operators", metavar="FILE")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    programs.quiet()
    known = names()
    wanted = [name for name in known if not options.names or any(name == n or name.startswith(f"{n}.") for n in options.names)]
    if options.list:
        print("\n".join(wanted))
        return 0
    if options.jobs == 0:  # a process of make_all: those named exactly, failures only
        for name in options.names:
            try:
                case(name)
            except Exception as error:
                print(f"{name}\t{type(error).__name__}: {' '.join(str(error).split())[:300]}", flush=True)
        return 0
    start = time.time()
    failed = make_all(wanted, options.jobs)
    for name, reason in failed.items():
        print(f"{name}: {reason}")
    print(f"{len(wanted)} cases, {len(failed)} failed, {time.time() - start:.1f} s, in {FOLDER}")
    if options.operators:
        list_operators([name for name in wanted if name not in failed], options.operators)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
