"""How pytest-xdist shares the tests out to its processes: one by one, the longest first, so that all end at about the same time."""

import re

from xdist.scheduler.loadscope import LoadScopeScheduling

# One process runs all tests of these files, which share what the first of them makes.
TOGETHER = re.compile(r"(test_random_modules|test_symbolic)\.py::")
# One process runs all tests of a case, which the first of them exports and loads.
BY_CASE = re.compile(r"(test_constraints\.py)::(?:test_inside|test_outside|test_other_inputs)(\[.*\])$")


class Scheduler(LoadScopeScheduling):
    """Gives a process one unit after the other. pytest-xdist's own mark of groups has no effect with every pytest."""

    def __init__(self, config, log):
        super().__init__(config, log)
        config.option.loadscopereorder = False  # the order is ours

    def _split_scope(self, nodeid):
        found = TOGETHER.search(nodeid) or BY_CASE.search(nodeid)
        return "".join(found.groups()) if found else nodeid
