"""Another Python that has imported a module once and runs each source in a fork of itself: importing PyTorch takes seconds."""

import json
import pathlib
import select
import subprocess
import tempfile

SERVER = """
import importlib, json, os, sys, traceback
importlib.import_module(sys.argv[1])
for line in sys.stdin:
    request = json.loads(line)
    process = os.fork()
    if process == 0:
        for number, path in ((1, request["output"]), (2, request["errors"])):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv = ["-c", *request["arguments"]]
        code = 0
        try:
            exec(compile(request["source"], "<string>", "exec"), {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


class ForkServer:
    def __init__(self, python, module):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([python, "-c", SERVER, module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, source, *arguments, timeout=300):
        """The exit code, what it printed, and what it said on standard error."""
        output, errors = (pathlib.Path(self.folder.name) / name for name in ("output", "errors"))
        request = {"source": source, "arguments": [*map(str, arguments)], "output": str(output), "errors": str(errors)}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], timeout)[0]:
            self.process.kill()
            raise TimeoutError(f"no answer after {timeout} s")
        code = self.process.stdout.readline()
        if not code:
            raise RuntimeError(f"the other Python stopped with {self.process.wait()}")
        return int(code), output.read_text(), errors.read_text()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()
