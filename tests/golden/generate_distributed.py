"""Makes tests/golden/distributed with PyTorch: checkpoints of one process, and of two that share tensors.

    python generate_distributed.py
"""
import os
import pathlib
import shutil

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh

HERE = pathlib.Path(__file__).parent / "distributed"


def whole():
    return {
        "model": {"weight": torch.arange(12.0).reshape(3, 4), "bias": torch.tensor([1.5, -2.0], dtype=torch.bfloat16)},
        "epoch": 3,
        "step": torch.tensor(7),
        "part": torch.arange(10, dtype=torch.int32)[2:6],
        "turned": torch.arange(6.0).reshape(2, 3).T,
    }


def rank(number: int, folder: str) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29513", RANK=str(number), WORLD_SIZE="2")
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (2,))
    cube = torch.arange(24.0).reshape(2, 3, 4)
    state = {
        "rows": distribute_tensor(torch.arange(15.0).reshape(5, 3), mesh, [Shard(0)]),
        "columns": distribute_tensor(torch.arange(12).reshape(2, 6), mesh, [Shard(1)]),
        "middle": distribute_tensor(cube, mesh, [Shard(1)]),
        "same": distribute_tensor(torch.ones(2, 2), mesh, [Replicate()]),
        "plain": torch.tensor([1, 2, 3]),
    }
    dcp.save(state, checkpoint_id=folder)
    dist.destroy_process_group()


if __name__ == "__main__":
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir()
    os.chdir(HERE)
    dcp.save(whole(), checkpoint_id="single", no_dist=True)
    mp.spawn(rank, args=("sharded",), nprocs=2)
    (HERE / "MANIFEST").write_text(f"all files\tgenerate_distributed.py\ttorch {torch.__version__.split('+')[0]}\n")
