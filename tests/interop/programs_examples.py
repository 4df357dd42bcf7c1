"""The export cases that PyTorch documents in torch._export.db.examples, each as it is and made functional."""

import torch

from programs import Export, program

# The examples make their inputs when they are imported.
torch.manual_seed(0)
from torch._export.db.examples import all_examples  # noqa: E402

# dynamic_shape_round shows a constraint that export cannot keep: round() of a size.
NOT_EXPORTABLE = {"dynamic_shape_round"}


def add(name):
    @program("decomposed", "strict", name=name)
    def example():
        # The module changes while it is exported and run: every build takes a new one.
        case = all_examples()[name]
        return Export(case.model, case.example_args, case.example_kwargs, case.dynamic_shapes)


for name in sorted(set(all_examples()) - NOT_EXPORTABLE):
    add(name)
