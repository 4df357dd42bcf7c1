#include "flambeau/formats/safety/known_globals.h"

#include <gtest/gtest.h>

namespace flambeau {
namespace {

using enum GlobalVerdict;

GlobalVerdict judge(std::string_view module, std::string_view name, bool in_torchscript = false) {
  return judge_global({module, name}, in_torchscript);
}

TEST(KnownGlobals, DataOnly) {
  for (const auto& [module, name] : std::initializer_list<std::pair<const char*, const char*>>{
           {"collections", "OrderedDict"},
           {"torch", "FloatStorage"},
           {"torch.cuda", "HalfStorage"},
           {"torch.storage", "UntypedStorage"},
           {"torch", "float32"},
           {"torch", "uint4"},
           {"torch", "per_channel_affine"},
           {"torch", "LongTensor"},
           {"torch.sparse", "FloatTensor"},
           {"torch", "Size"},
           {"torch._utils", "_rebuild_tensor_v2"},
           {"torch._utils", "_rebuild_qtensor"},
           {"torch.nn.parameter", "Parameter"},
           {"__builtin__", "set"},
           {"builtins", "bytes"},
           {"_codecs", "encode"},
       }) {
    EXPECT_EQ(judge(module, name), kData) << module << "." << name;
  }
}

TEST(KnownGlobals, NumpyIsSaidToBe) {
  EXPECT_EQ(judge("numpy.core.multiarray", "_reconstruct"), kNumpy);
  EXPECT_EQ(judge("numpy._core.multiarray", "scalar"), kNumpy);
  EXPECT_EQ(judge("numpy", "dtype"), kNumpy);
  EXPECT_EQ(judge("numpy", "load"), kUnknown);
}

TEST(KnownGlobals, Dangerous) {
  for (const auto& [module, name] : std::initializer_list<std::pair<const char*, const char*>>{
           {"os", "system"},
           {"posix", "system"},
           {"nt", "system"},
           {"subprocess", "Popen"},
           {"builtins", "eval"},
           {"__builtin__", "exec"},
           {"builtins", "getattr"},
           {"builtins", "__import__"},
           {"os.path", "join"},
           {"importlib", "import_module"},
           {"runpy", "run_path"},
           {"socket", "socket"},
           {"pickle", "loads"},
           {"operator", "attrgetter"},
           {"functools", "partial"},
           {"sys", "exit"},
       }) {
    EXPECT_EQ(judge(module, name), kDangerous) << module << "." << name;
  }
}

TEST(KnownGlobals, WhatIsOnNoListIsUnknown) {
  EXPECT_EQ(judge("torch", "load"), kUnknown);
  EXPECT_EQ(judge("torch.nn.modules.linear", "Linear"), kUnknown);
  EXPECT_EQ(judge("torch._utils", "_import_dotted_name"), kUnknown);
  EXPECT_EQ(judge("", ""), kUnknown);
  EXPECT_EQ(judge("builtins", "object"), kUnknown);
  EXPECT_EQ(judge("torch.jit._pickle", "build_intlist"), kUnknown);
}

// STACK_GLOBAL's name may have dots: the parts are attributes. A module must not lend its good name.
TEST(KnownGlobals, NamesAreNotJoinedAcrossTheDot) {
  EXPECT_EQ(judge("torch.nn", "parameter.Parameter"), kDangerous);
  EXPECT_EQ(judge("collections.OrderedDict", ""), kUnknown);
  EXPECT_EQ(judge("torch._utils", "_rebuild_tensor_v2.__globals__"), kDangerous);
  EXPECT_EQ(judge("torch", "storage.os"), kDangerous);
  EXPECT_EQ(judge("mymodule", "os.system"), kDangerous);
  EXPECT_EQ(judge("collections", "OrderedDict.fromkeys"), kDangerous);
  EXPECT_EQ(judge("torch.jit._pickle", "build_intlist.__builtins__.__getitem__"), kDangerous);
  EXPECT_EQ(judge("torch.jit._pickle", "build_intlist.__builtins__", true), kUnknown);
}

TEST(KnownGlobals, TorchScriptClassesAreOfTheArchive) {
  EXPECT_EQ(judge("__torch__.net", "Net", true), kTorchScript);
  EXPECT_EQ(judge("__torch__", "Net", true), kTorchScript);
  EXPECT_EQ(judge("__torch__x", "Net", true), kUnknown);
  EXPECT_EQ(judge("__torch__.net", "Net", false), kUnknown);
  EXPECT_EQ(judge("torch.jit._pickle", "build_intlist", true), kTorchScript);
  EXPECT_EQ(judge("torch.jit._pickle", "os", true), kUnknown);
  EXPECT_EQ(judge("os", "system", true), kDangerous);
}

TEST(KnownGlobals, VerdictsHaveNames) {
  EXPECT_EQ(verdict_name(kData), "data");
  EXPECT_EQ(verdict_name(kNumpy), "numpy");
  EXPECT_EQ(verdict_name(kTorchScript), "torchscript");
  EXPECT_EQ(verdict_name(kUnknown), "unknown");
  EXPECT_EQ(verdict_name(kDangerous), "dangerous");
}

}  // namespace
}  // namespace flambeau
