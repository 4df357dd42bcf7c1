#!/usr/bin/env python3
"""Writes the tables in the documentation from the one place where each is declared.

    scripts/write_docs.py [--check] [--command build/dev/apps/flambeau/flambeau]

- Rooms: flambeau_room(NAME USES ...) in a room's CMakeLists.txt says whom it may use, the first line of its README
  ("# NAME: JOB") says its job, and src/flambeau/CMakeLists.txt has the order.
- The options of the command: `flambeau --help --json`, where --command names one.

What is written stands between <!-- NAME --> and <!-- end of NAME -->. --check writes nothing and fails where a table
is not what it should be."""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ROOT / "src/flambeau"


def read_rooms():
    """(name, job, uses) of every room, in order."""
    rooms = []
    for name in re.findall(r"^add_subdirectory\((\w+)\)", (ROOMS / "CMakeLists.txt").read_text(), re.M):
        declared = re.search(rf"^flambeau_room\({name}\b([^)]*)\)", (ROOMS / name / "CMakeLists.txt").read_text(), re.M)
        if declared is None:
            sys.exit(f"src/flambeau/{name}/CMakeLists.txt: has no line flambeau_room({name} ...)")
        uses = re.search(r"\bUSES((?: [a-z_]+)*)", declared[1])
        title = (ROOMS / name / "README.md").read_text().split("\n", 1)[0]
        if not title.startswith(f"# {name}: "):
            sys.exit(f"src/flambeau/{name}/README.md: the first line should say the room's one job: '# {name}: JOB'")
        rooms.append((name, title.split(": ", 1)[1], uses[1].split() if uses else []))
    return rooms


def table(heads, rows):
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def rooms_with_uses(rooms):
    return [(f"`{name}/`", job, ", ".join(uses) or "-") for name, job, uses in rooms]


def cell(text):
    return text.replace("|", "\\|").replace("<", "\\<").replace("*", "\\*").replace("_", "\\_")


def option_row(option):
    names = ", ".join(f"`{name}`" for name in option["names"])
    if option["takes"]:
        names += f" {cell(option['takes'])}"
    facts = []
    if option["choices"]:
        facts.append("one of " + ", ".join(f"`{word}`" for word in option["choices"]))
    if option["required"]:
        facts.append("required")
    if option["repeats"]:
        facts.append("any number" if option["positional"] else "may be repeated")
    if option["default"] is not None:
        facts.append(f"`{option['default']}` by default")
    return names, cell(option["help"]) + (f" ({'; '.join(facts)})" if facts else "")


def usage(command):
    words = [command["name"]]
    for option in command["options"]:
        if option["positional"]:
            name = option["names"][0] + ("..." if option["repeats"] else "")
            words.append(name if option["required"] else f"[{name}]")
    return " ".join(words)


def command_parts(program):
    described = json.loads(subprocess.run([program, "--help", "--json"], check=True, capture_output=True).stdout)
    subcommands = [
        (f"[`{usage(each)}`](#{each['name']})", cell(each["summary"][0].lower() + each["summary"][1:]))
        for each in described["commands"]
    ]
    options = ["For every subcommand:", table(["option", "what it does"], map(option_row, described["options"]))]
    for each in described["commands"]:
        options += [f"`flambeau {usage(each)}`:", table(["option", "what it does"], map(option_row, each["options"]))]
    return {"subcommands": table(["subcommand", "what it does"], subcommands), "options": "\n\n".join(options)}


def put(path, name, text, check):
    """Puts the text between its marks; whether it was there already."""
    old = path.read_text()
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    if old.count(begin) != 1 or old.count(end) != 1:
        sys.exit(f"{path.relative_to(ROOT)}: should have one {begin.strip()} and one {end}")
    before, rest = old.split(begin)
    new = f"{before}{begin}{text}\n{end}{rest.split(end)[1]}"
    if new != old and not check:
        path.write_text(new)
    return new == old


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where something would change")
    parser.add_argument("--command", metavar="FLAMBEAU", help="the built command, for the tables of its options")
    arguments = parser.parse_args()
    rooms = read_rooms()
    heads = ["room", "its one job", "may use"]
    links = [(f"[`{name}/`](src/flambeau/{name})", job) for name, job, _ in rooms]
    wanted = [
        (ROOMS / "README.md", "rooms", table(heads, rooms_with_uses(rooms))),
        (ROOT / "docs/design.md", "rooms", table(heads, rooms_with_uses(rooms))),
        (ROOT / "README.md", "rooms", table(heads[:2], links)),
    ]
    if arguments.command:
        wanted += [(ROOT / "docs/command.md", *part) for part in command_parts(arguments.command).items()]
    stale = [str(path.relative_to(ROOT)) for path, name, text in wanted if not put(path, name, text, arguments.check)]
    if arguments.check and stale:
        sys.exit(f"{', '.join(sorted(set(stale)))}: not as declared; run scripts/write_docs.py --command FLAMBEAU")


main()
