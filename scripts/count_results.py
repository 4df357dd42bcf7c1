"""Sums up what scripts/test recorded in a folder, and prints "N passed, M failed, K skipped".

A GoogleTest program counts by its cases; one that crashed left no report and counts as one failure. Any
other ctest test counts as one. Leaves with 1 when something failed or nothing passed.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """passed, failed or skipped, for a <testcase> of GoogleTest, pytest or ctest."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("result") in ("skipped", "suppressed"):
        return "skipped"
    # ctest marks them in the status attribute; GoogleTest's disabled cases say "notrun".
    return {"fail": "failed", "disabled": "skipped", "notrun": "skipped"}.get(case.get("status"), "passed")


def cases(path):
    try:
        return [(case.get("classname", ""), case.get("name", ""), outcome(case))
                for case in ElementTree.parse(path).iter("testcase")]
    except (ElementTree.ParseError, OSError):
        return None


def collect(results):
    """(name, outcome) of everything that ran."""
    found = []
    for _, program, verdict in cases(results / "ctest.xml") or []:
        inner = cases(results / "gtest" / f"{program}.xml")
        if inner is None:
            found.append((program, verdict))
            continue
        found += [(f"{suite}.{name}", result) for suite, name, result in inner]
        if verdict == "failed" and not any(result == "failed" for _, _, result in inner):
            found.append((f"{program} (after its last case)", "failed"))
    for report in sorted(results.glob("pytest*.xml")):
        found += [(f"{module}::{name}", result) for module, name, result in cases(report) or []]
    for kind in ("failed", "skipped"):
        steps = results / f"{kind}_steps"
        if steps.exists():
            found += [(step, kind) for step in steps.read_text().splitlines()]
    return found


def main():
    found = collect(pathlib.Path(sys.argv[1]))
    count = {kind: sum(result == kind for _, result in found) for kind in ("passed", "failed", "skipped")}
    for name, result in found:
        if result == "failed":
            print(f"failed: {name}")
    sys.stdout.flush()
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
