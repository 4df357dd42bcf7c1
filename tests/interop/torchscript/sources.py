#!/usr/bin/env python3
"""Texts given to the compiler: Flambeau and PyTorch agree on which are scripts, on their code, and on the line that is wrong.

    sources.py --tool build/dev/tests/interop/torchscript/compile_texts SOURCES.zip [--show CLASS]

The zip holds sources.jsonl, whose rows have `kind` and `text`. PyTorch is asked once with CompilationUnit; what it says is kept in
build/test-cache. Classes, for --show: verdict, code, line.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import cache  # noqa: E402

DECORATOR = re.compile(r"^\s*@.*$", re.M)


def texts(path):
    """By their names: what was given to CompilationUnit, and functions of Python sources without their decorators. Methods and
    modules need an object around them."""
    rows = zipfile.ZipFile(path).read("sources.jsonl").decode().splitlines()
    found = {}
    for number, row in enumerate(map(json.loads, rows)):
        text = row["text"]
        if row["kind"] == "python":
            text = DECORATOR.sub("", textwrap.dedent(text))
            if not text.lstrip().startswith("def "):
                continue
        elif row["kind"] != "unit":
            continue
        found[f"{number:04}-{row['kind']}"] = text
    return found


def ask(given):
    """What PyTorch says: {"code": functions by name} or {"error": text}."""
    import warnings

    # Names that a text may use. PyTorch takes them from the frame that calls it, so that frame has no others.
    space = {}
    exec(
        "import torch, math, cmath, typing, torch.nn.functional as F\n"
        "from torch import Tensor, nn\n"
        "from typing import Any, Dict, Final, List, NamedTuple, Optional, Tuple, Union\n"
        "def compile_it(text):\n"
        "  return torch.jit.CompilationUnit(text)\n",
        space,
    )
    said = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, text in given.items():
            try:
                unit = space["compile_it"](text)
                said[name] = {"code": {function.name: function.code for function in unit.get_functions()}}
            except Exception as error:  # PyTorch throws whatever it likes
                said[name] = {"error": str(error)}
    return said


def asked(path):
    given = texts(path)

    def make(folder):
        (folder / "said.json").write_text(json.dumps(ask(given)))

    folder = cache.entry("script-sources", [pathlib.Path(__file__), pathlib.Path(path)], ["all"], make)
    return given, json.loads((folder / "said.json").read_text())


def lines_of(error):
    """The lines that PyTorch's message points at; empty when it names none."""
    return {int(line) for line in re.findall(r'File "<string>", line (\d+)', error)}


def compile_all(tool, given):
    """What Flambeau says, in the same form; an error has its line."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in given.items():
            (pathlib.Path(folder) / name).write_text(text)
        command = [tool, "--json", *(str(pathlib.Path(folder) / name) for name in given)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    rows = map(json.loads, done.stdout.splitlines())
    return {pathlib.Path(row["path"]).name: row for row in rows}


def judge(tool, path):
    """Names by how they came out: same and other for verdict, code and line."""
    given, said = asked(path)
    ours = compile_all(tool, given)
    found = {key: [] for key in ("compiles", "refused by us", "accepted by us", "code", "other code", "line", "other line")}
    for name, theirs in said.items():
        one = ours[name]
        if "code" in theirs:
            if "error" in one:
                found["refused by us"].append(name)
                continue
            found["compiles"].append(name)
            same = "".join(theirs["code"].values()) == "".join(one["code"].values())
            found["code" if same else "other code"].append(name)
        elif "INTERNAL ASSERT" not in theirs["error"]:
            if "code" in one:
                found["accepted by us"].append(name)
            elif lines := lines_of(theirs["error"]):
                found["line" if one["line"] in lines else "other line"].append(name)
    return given, said, ours, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--show", choices=["verdict", "code", "line"])
    parser.add_argument("sources")
    options = parser.parse_args()
    given, said, ours, found = judge(options.tool, options.sources)
    for key, names in found.items():
        print(f"{key}: {len(names)}")
    shown = {"verdict": ["refused by us", "accepted by us"], "code": ["other code"], "line": ["other line"]}
    for key in shown.get(options.show, []):
        for name in found[key]:
            print(f"==== {key}: {name}\n{given[name]}\n---- PyTorch")
            print(said[name].get("error") or "\n".join(said[name]["code"].values()))
            print("---- Flambeau")
            print(ours[name].get("error") or "\n".join(ours[name]["code"].values()))


if __name__ == "__main__":
    main()
