"""Whole programs with what PyTorch makes of them: a .pt2 file, calls, and the results of these; kept (../cache.py).

  graphs.NAME                      real graphs with made-up weights (real_graphs)
  examples.NAME                    the export cases that PyTorch documents (../programs_examples)
  transformers.NAME[.dynamic]      tiny models of the transformers library (transformers_models)
  random.NUMBER                    random programs over many operators (random_programs)

Static ones of the first three also as NAME.decomposed: the same after run_decompositions().

python model_cases.py [NAME...]          makes those that are not there yet: all, those named, or whose name starts so
python model_cases.py --operators FILE   also writes a list of all operators in them
python model_cases.py --list             the names
"""

import argparse
import collections
import copy
import dataclasses
import importlib.metadata
import operator
import os
import pathlib
import sys
import time

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [path for path in (os.fspath(HERE), os.fspath(HERE.parent)) if path not in sys.path]

import cache  # noqa: E402
import programs  # noqa: E402
import programs_examples  # noqa: E402, F401
import random_programs  # noqa: E402
import real_graphs  # noqa: E402

try:
    TRANSFORMERS = importlib.metadata.version("transformers")
except importlib.metadata.PackageNotFoundError:
    TRANSFORMERS = None

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


def sources(group):
    """What makes the cases of a group."""
    files = {"transformers": ["transformers_models.py"], "random": ["random_programs.py"], "graphs": ["real_graphs.py"]}
    paths = [HERE / name for name in ("model_cases.py", *files.get(group, ("../programs.py", "../programs_examples.py")))]
    if group == "graphs":
        paths.append(real_graphs.archive())
    return (*paths, f"transformers {TRANSFORMERS}") if group == "transformers" else paths


def case(name):
    """Made when it is not there yet."""
    group = name.partition(".")[0]
    folder = cache.entry(f"models-{group}", sources(group), (name,), lambda part: save(name, part))
    return Case(folder / f"{name}.pt2", torch.load(folder / f"{name}.calls", weights_only=False))


def save(name, folder):
    programs.quiet()
    made = make(name)
    torch.save(expected(made), folder / f"{name}.calls")
    torch.export.save(made.program, folder / f"{name}.pt2")


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
    parser.add_argument("--operators", metavar="FILE")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    programs.quiet()
    known = names()
    wanted = [name for name in known if not options.names or any(name == n or name.startswith(f"{n}.") for n in options.names)]
    if options.list:
        print("\n".join(wanted))
        return 0
    start, failed = time.time(), set()
    for name in wanted:
        try:
            case(name)
        except Exception as error:
            failed.add(name)
            print(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:300]}", flush=True)
    print(f"{len(wanted)} cases, {len(failed)} failed, {time.time() - start:.1f} s")
    if options.operators:
        list_operators([name for name in wanted if name not in failed], options.operators)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
