"""PyTorch's operators in a loop in C++: what a call costs there, without Python. Compiled once, with PyTorch's own headers."""

import pathlib

SOURCE = r"""
#include <torch/extension.h>
#include <torch/csrc/jit/python/pybind_utils.h>

#include <chrono>
#include <ctime>

double now(int threads) {
  if (threads == 1) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double seconds(const std::string& name, const std::string& overload, py::tuple args, int64_t count, int threads) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), overload.c_str());
  const torch::jit::Stack given = torch::jit::createStackForSchema(
      op.schema(), torch::jit::tuple_slice(args), {}, {});
  c10::InferenceMode mode;
  py::gil_scoped_release release;
  const double start = now(threads);
  for (int64_t i = 0; i < count; ++i) {
    torch::jit::Stack stack = given;
    op.callBoxed(stack);
  }
  return now(threads) - start;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) { module.def("seconds", &seconds); }
"""


def load(folder):
    """A module with seconds(name, overload, args, count, threads)."""
    from torch.utils import cpp_extension

    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return cpp_extension.load_inline("torch_loop", SOURCE, build_directory=str(folder), extra_cflags=["-O1"])
