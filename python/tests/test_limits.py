"""What a call may cost, and how it is stopped."""

import os
import signal
import threading
import time

import numpy
import pytest

import flambeau

FOREVER = [2**50]


@pytest.fixture(autouse=True)
def no_limits():
    yield
    flambeau.set_limits()


def forever():
    """A sum over more elements than anybody waits for, of one number in memory."""
    endless = flambeau.ops.aten.expand.default(numpy.ones(1, "float32"), FOREVER)
    return flambeau.ops.aten.sum.default(endless)


def test_time_limit():
    flambeau.set_limits(time_limit=0.2)
    assert flambeau.get_limits() == (0.2, None)
    started = time.monotonic()
    with pytest.raises(flambeau.Error, match="takes longer than the 0.2 s it was given") as caught:
        forever()
    assert caught.value.code == "limit"
    assert time.monotonic() - started < 1.5


def test_memory_limit():
    flambeau.set_limits(memory_limit=1000)
    flambeau.ops.aten.zeros.default([100])
    with pytest.raises(flambeau.Error, match="more than the 1000 bytes of memory it was given"):
        flambeau.ops.aten.zeros.default([1000])
    flambeau.set_limits()
    flambeau.ops.aten.zeros.default([1000])


def test_more_memory_than_there_is():
    for ask in (lambda: flambeau.ops.aten.zeros.default([2**50]), lambda: flambeau.ops.aten.triu_indices.default(2**28, 2**28)):
        with pytest.raises(flambeau.Error, match="there is no memory for") as caught:
            ask()
        assert caught.value.code == "limit"


@pytest.mark.parametrize("limits", [{"time_limit": 0}, {"time_limit": -1.0}, {"memory_limit": 0}])
def test_limits_that_are_none(limits):
    with pytest.raises(flambeau.Error, match="limit must be positive"):
        flambeau.set_limits(**limits)


def test_control_c_ends_a_call():
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        forever()
    assert time.monotonic() - started < 1.5


def test_sizes_do_not_wrap():
    most = 2**63 - 1
    x = numpy.ones((1, 2, 3), "float32")
    for call in (
        lambda: flambeau.ops.aten.constant_pad_nd.default(x, [most, most]),
        lambda: flambeau.ops.aten.pad.default(x, [most, most]),
        lambda: flambeau.ops.aten.replication_pad1d.default(x, [most, most]),
        lambda: flambeau.ops.aten.repeat.default(x, [2**62, 2**62, 2**62]),
    ):
        with pytest.raises(flambeau.Error, match="does not fit in 64 bits"):
            call()


@pytest.mark.parametrize("name", ["stack", "block_diag", "meshgrid", "broadcast_tensors", "cat", "hstack", "cartesian_prod"])
@pytest.mark.parametrize("tensors", [[None], [None, None], "one of two"])
def test_none_among_tensors(name, tensors):
    tensors = [numpy.ones(2), None] if tensors == "one of two" else tensors
    with pytest.raises(flambeau.Error, match=r"argument 'tensors' takes Tensor\[\], not"):
        getattr(flambeau.ops.aten, name).default(tensors)


def test_a_list_that_holds_itself():
    endless = []
    endless.append(endless)
    with pytest.raises(flambeau.Error, match="nested too deep"):
        flambeau.ops.aten.stack.default(endless)


@pytest.mark.parametrize("bound", [flambeau.Tensor, flambeau.Session, flambeau.Operator, flambeau.Leaf, flambeau.Object])
def test_objects_that_were_never_made(bound):
    unmade = bound.__new__(bound)
    for name in vars(bound):
        if name.startswith("_") and name not in ("__repr__", "__len__", "__call__", "__bool__", "__dlpack__", "__array__"):
            continue
        with pytest.raises(TypeError):
            attribute = getattr(unmade, name)
            attribute()
    with pytest.raises((TypeError, flambeau.Error)):
        flambeau.ops.aten.relu.default(unmade)
