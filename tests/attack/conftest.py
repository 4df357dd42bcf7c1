import os
import pathlib
import sys

import pytest

sys.path.insert(0, os.fspath(pathlib.Path(__file__).parent))


def pytest_collection_modifyitems(items):
    if "FLAMBEAU_BIN" not in os.environ:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="FLAMBEAU_BIN names no command"))
