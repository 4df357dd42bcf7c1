#include "flambeau/formats/safety/known_globals.h"

#include <algorithm>
#include <array>
#include <string>

#include "flambeau/archive/pickle/globals.h"
#include "flambeau/tensor/dtype.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {
namespace {

template <size_t kCount>
bool contains(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<std::string_view, 14> kRebuildFunctions = {
    "_rebuild_tensor",
    "_rebuild_tensor_v2",
    "_rebuild_tensor_v3",
    "_rebuild_parameter",
    "_rebuild_parameter_with_state",
    "_rebuild_qtensor",
    "_rebuild_sparse_tensor",
    "_rebuild_sparse_csr_tensor",
    "_rebuild_meta_tensor_no_storage",
    "_rebuild_nested_tensor",
    "_rebuild_wrapper_subclass",
    "_rebuild_device_tensor_from_numpy",
    "_rebuild_device_tensor_from_cpu_tensor",
    "_rebuild_xla_tensor",
};

constexpr std::array<std::string_view, 27> kPlainValues = {
    "collections.OrderedDict",
    "collections.Counter",
    "collections.defaultdict",
    "collections.deque",
    "torch.nn.parameter.Parameter",
    "torch.nn.parameter.Buffer",
    "torch.serialization._get_layout",
    "torch.Size",
    "torch.Tensor",
    "torch.device",
    "_codecs.encode",
    "builtins.bytes",
    "builtins.bytearray",
    "builtins.set",
    "builtins.frozenset",
    "builtins.complex",
    "builtins.int",
    "builtins.float",
    "builtins.bool",
    "builtins.str",
    "builtins.list",
    "builtins.dict",
    "builtins.tuple",
    "torch._tensor._rebuild_from_type_v2",
    "torch._tensor._rebuild_from_type",
    "torch.tensor._rebuild_from_type",
    "torch._export.serde.serialize._reconstruct_fake_tensor",
};

constexpr std::array<std::string_view, 11> kNumpyValues = {
    "numpy.core.multiarray._reconstruct",
    "numpy.core.multiarray.scalar",
    "numpy._core.multiarray._reconstruct",
    "numpy._core.multiarray.scalar",
    "numpy.ndarray",
    "numpy.dtype",
    "numpy.dtypes.Float64DType",
    "numpy.dtypes.Float32DType",
    "numpy.dtypes.Int64DType",
    "numpy.dtypes.Int32DType",
    "numpy.dtypes.BoolDType",
};

// What PyTorch's C++ pickler writes into TorchScript archives, for its own unpickler.
constexpr std::array<std::string_view, 7> kTorchScriptBuilders = {
    "build_intlist", "build_doublelist",     "build_boollist",   "build_tensorlist",
    "build_tensor",  "build_tensor_from_id", "restore_type_tag",
};

// Of the names above, those that torch.load(weights_only=True) does not allow.
constexpr std::array<std::string_view, 17> kNotInWeightsOnly = {
    "collections.defaultdict",
    "collections.deque",
    "torch.nn.parameter.Buffer",
    "builtins.bytes",
    "builtins.frozenset",
    "builtins.int",
    "builtins.float",
    "builtins.bool",
    "builtins.str",
    "builtins.list",
    "builtins.dict",
    "builtins.tuple",
    "torch._tensor._rebuild_from_type",
    "torch.tensor._rebuild_from_type",
    "torch._utils._rebuild_sparse_csr_tensor",
    "torch._utils._rebuild_xla_tensor",
    "torch._export.serde.serialize._reconstruct_fake_tensor",
};

// Modules of which no name belongs in a file of weights.
constexpr std::array<std::string_view, 36> kDangerousModules = {
    "os",        "posix",   "nt",      "posixpath", "subprocess",      "sys",      "shutil",    "socket",
    "importlib", "runpy",   "code",    "codeop",    "ctypes",          "pty",      "commands",  "pickle",
    "_pickle",   "cPickle", "marshal", "types",     "functools",       "operator", "_operator", "webbrowser",
    "pip",       "pdb",     "bdb",     "timeit",    "multiprocessing", "asyncio",  "threading", "urllib",
    "io",        "_io",     "pathlib", "tempfile",
};

constexpr std::array<std::string_view, 14> kDangerousBuiltins = {
    "eval",    "exec",    "execfile", "compile", "open",  "__import__", "getattr",
    "setattr", "delattr", "globals",  "locals",  "apply", "input",      "breakpoint",
};

// int1 to int7 and uint1 to uint7: types that PyTorch names and cannot save tensors of.
bool is_narrow_integer(std::string_view name) {
  if (name.starts_with('u')) name.remove_prefix(1);
  return name.size() == 4 && name.starts_with("int") && name[3] >= '1' && name[3] <= '7';
}

bool is_storage_or_tensor_class(std::string_view module, std::string_view name) {
  const bool is_sparse = module == "torch.sparse" || module == "torch.cuda.sparse";
  if (module != "torch" && module != "torch.cuda" && module != "torch.storage" && !is_sparse) return false;
  if (name == "UntypedStorage" || name == "_UntypedStorage" || name == "TypedStorage" ||
      name == "_TypedStorage") {
    return true;
  }
  if (dtype_from_storage(name)) return true;
  if (!name.ends_with("Tensor")) return false;
  return dtype_from_storage(std::string(name.substr(0, name.size() - 6)) + "Storage").has_value();
}

}  // namespace

std::string_view verdict_name(GlobalVerdict verdict) {
  switch (verdict) {
    case GlobalVerdict::kData:
      return "data";
    case GlobalVerdict::kNumpy:
      return "numpy";
    case GlobalVerdict::kTorchScript:
      return "torchscript";
    case GlobalVerdict::kUnknown:
      return "unknown";
    case GlobalVerdict::kDangerous:
      return "dangerous";
  }
  return "unknown";
}

GlobalVerdict judge_global(const pickle::Node::GlobalName& global, bool in_torchscript) {
  const std::string_view module = global.module;
  const std::string_view name = global.name;
  // Python takes what follows a dot for an attribute, and so reaches everything from anywhere.
  if (name.find('.') != std::string_view::npos && !in_torchscript) return GlobalVerdict::kDangerous;
  if (module == "torch" && (dtype_from_name(name) || scheme_from_name(name) || layout_from_name(name))) {
    return GlobalVerdict::kData;
  }
  if (module == "torch" && is_narrow_integer(name)) return GlobalVerdict::kData;
  if (module == "torch._utils" && contains(kRebuildFunctions, name)) return GlobalVerdict::kData;
  if (is_storage_or_tensor_class(module, name)) return GlobalVerdict::kData;
  const std::string dotted = name_in_python_3(global);
  if (name.find('.') == std::string_view::npos) {
    if (contains(kPlainValues, std::string_view(dotted))) return GlobalVerdict::kData;
    if (contains(kNumpyValues, std::string_view(dotted))) return GlobalVerdict::kNumpy;
  }
  if (in_torchscript && module == "torch.jit._pickle" && contains(kTorchScriptBuilders, name)) {
    return GlobalVerdict::kTorchScript;
  }
  if (in_torchscript && (module == "__torch__" || module.starts_with("__torch__."))) {
    return GlobalVerdict::kTorchScript;
  }
  if ((module == "builtins" || module == "__builtin__") && contains(kDangerousBuiltins, name)) {
    return GlobalVerdict::kDangerous;
  }
  const std::string_view top = module.substr(0, module.find('.'));
  return contains(kDangerousModules, top) ? GlobalVerdict::kDangerous : GlobalVerdict::kUnknown;
}

std::string name_in_python_3(const pickle::Node::GlobalName& global) {
  return global.module == "__builtin__" ? "builtins." + std::string(global.name) : global.dotted();
}

bool is_allowed_by_weights_only(const pickle::Node::GlobalName& global) {
  if (judge_global(global, false) != GlobalVerdict::kData) return false;
  return !contains(kNotInWeightsOnly, std::string_view(name_in_python_3(global)));
}

std::vector<std::string> unsafe_globals(const pickle::Tree& tree) {
  std::vector<std::string> names;
  for (const pickle::GlobalUse& use : pickle::list_globals(tree)) {
    const GlobalVerdict verdict = judge_global(use.name, false);
    if (verdict != GlobalVerdict::kData && verdict != GlobalVerdict::kNumpy)
      names.push_back(use.name.dotted());
  }
  return names;
}

}  // namespace flambeau
