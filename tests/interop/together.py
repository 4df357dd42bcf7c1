"""Work that several processes of one test run do together: each takes what nobody has taken yet, and gets the results of all."""

import json
import os
import pathlib
import time


def run_folder(tmp_path_factory):
    """A folder that all processes of this run of the tests share."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


def together(folder, count, work):
    """[work(0), ..., work(count - 1)] as JSON gives them back. The folder belongs to this work of this run."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        try:
            taken = os.open(folder / f"{number}.taken", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            continue
        with open(taken, "w") as file:
            file.write(str(os.getpid()))
        try:
            said = {"result": work(number)}
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        part = folder / f"{number}.part"
        part.write_text(json.dumps(said))
        part.rename(folder / f"{number}.json")
    return [result(folder, number) for number in range(count)]


def result(folder, number):
    path = folder / f"{number}.json"
    while not path.exists():
        process = (folder / f"{number}.taken").read_text()
        # It may have finished meanwhile; without a number it has only just taken it.
        if process and not is_alive(int(process)) and not path.exists():
            raise RuntimeError(f"process {process} stopped at part {number}")
        time.sleep(0.05)
    said = json.loads(path.read_text())
    if "error" in said:
        raise RuntimeError(f"part {number}: {said['error']}")
    return said["result"]


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # One that has died stays in the table of processes until its parent asks for its end.
    status = pathlib.Path(f"/proc/{process}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] in "ZX")
