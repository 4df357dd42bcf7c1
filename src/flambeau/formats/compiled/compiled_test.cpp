#include "flambeau/formats/compiled.h"

#include <gtest/gtest.h>

#include "flambeau/archive/elf/test_library.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/compiled/compiled_source.h"
#include "flambeau/formats/inspect.h"
#include "flambeau/formats/pt2/package_test_files.h"
#include "flambeau/formats/safety/safety.h"

namespace flambeau {
namespace {

constexpr std::string_view kFolder = "data/aotinductor/model/";
constexpr std::string_view kSource = R"source(
    inputs_info_[0].name = "arg5_1";
    inputs_info_[1].name = "arg6_1";
    constants_info_[0].name = "a_weight";
    constants_info_[0].dtype = cached_torch_dtype_float32;
    constants_info_[0].data_size = 512;
    constants_info_[0].type = static_cast<int32_t>(torch::aot_inductor::ConstantType::Parameter);
    constants_info_[0].shape = {16, 8};
    constants_info_[0].original_fqn = "a.weight";
    constants_info_[1].name = "k";
    constants_info_[1].type = static_cast<int32_t>(torch::aot_inductor::ConstantType::Buffer);
    constants_info_[1].shape = {};
    constants_info_[900000].name = "far";
    in_spec_ = R"([1, {"type": null}])";
outputs_info_[0].name = "output0";
)source";

pt2::Records compiled_package(const elf::TestLibrary& library) {
  pt2::Records records = pt2::Records::golden("weights.tied");
  records.set(std::string(kFolder) + "x.wrapper.so", library.bytes());
  records.set(std::string(kFolder) + "x.wrapper.cpp", std::string(kSource));
  records.set(std::string(kFolder) + "x.wrapper_metadata.json",
              R"({"AOTI_DEVICE_KEY": "cpu", "AOTI_CPU_ISA": "AVX2", "owner": "me", "n": 3})");
  return records;
}

elf::TestLibrary plain_library() {
  return {.needed = {"libtorch_cpu.so", "libc.so.6"},
          .imports = {"malloc", "aoti_torch_empty_strided", "aoti_torch_clone"},
          .exports = {"AOTInductorModelContainerRun"},
          .initializers = 3};
}

std::vector<std::string> dangers(const pt2::Records& records) {
  std::vector<std::string> texts;
  for (const Finding& finding : check_file(records.file()).findings) {
    if (finding.severity == Severity::kDanger) texts.push_back(finding.message);
  }
  return texts;
}

TEST(Compiled, IsDescribedWithoutBeingRun) {
  const Inspection found = inspect_file(compiled_package(plain_library()).file());
  ASSERT_EQ(found.compiled.size(), 1U);
  const CompiledModel& model = found.compiled[0];
  EXPECT_EQ(model.name, "model");
  EXPECT_EQ(model.device, "cpu");
  EXPECT_EQ(model.metadata.size(), 3U);
  EXPECT_EQ(model.inputs, (std::vector<std::string>{"arg5_1", "arg6_1"}));
  EXPECT_EQ(model.outputs, (std::vector<std::string>{"output0"}));
  EXPECT_EQ(model.in_spec, R"([1, {"type": null}])");
  ASSERT_EQ(model.constants.size(), 2U);  // what is numbered beyond the others is none
  EXPECT_EQ(model.constants[0].original, "a.weight");
  EXPECT_EQ(model.constants[0].dtype, "float32");
  EXPECT_EQ(model.constants[0].kind, "parameter");
  EXPECT_EQ(model.constants[0].sizes, (std::vector<int64_t>{16, 8}));
  EXPECT_EQ(model.constants[0].bytes, 512U);
  EXPECT_EQ(model.constants[1].kind, "buffer");
  ASSERT_EQ(model.libraries.size(), 1U);
  const CompiledLibrary& library = model.libraries[0];
  EXPECT_EQ(library.problem, "");
  EXPECT_EQ(library.machine, "x86-64");
  EXPECT_EQ(library.host_functions,
            (std::vector<std::string>{"aoti_torch_clone", "aoti_torch_empty_strided"}));
  EXPECT_EQ(library.other_imports, 1U);
  EXPECT_EQ(library.run_by_loading, 3U);
}

TEST(Compiled, CheckSaysWhatLoadingWouldRun) {
  EXPECT_EQ(
      dangers(compiled_package(plain_library())),
      (std::vector<std::string>{"compiled code, which loading the model would run, 3 of its functions by "
                                "loading alone"}));
  elf::TestLibrary evil = plain_library();
  evil.imports.insert(evil.imports.end(), {"system", "fopen"});
  evil.needed.emplace_back("libevil.so");
  evil.search_path = "/tmp/x";
  evil.stack_flags = 7;
  evil.entries = {{22, 0}};
  EXPECT_EQ(
      dangers(compiled_package(evil)),
      (std::vector<std::string>{
          "compiled code, which loading the model would run, 3 of its functions by loading alone",
          "reaches outside of the process: it calls fopen, system",
          "loads libraries that PyTorch's compiled models do not need: libevil.so",
          "has libraries looked for in folders of its own choice: /tmp/x",
          "has its code rewritten while it is loaded", "makes the stack of the whole process executable"}));
}

TEST(Compiled, BrokenOnesAreSaidToBe) {
  pt2::Records records = compiled_package(plain_library());
  records.set(std::string(kFolder) + "x.wrapper.so",
              "\x7f"
              "ELF");
  records.set(std::string(kFolder) + "x.wrapper_metadata.json", "[1]");
  const Inspection found = inspect_file(records.file());
  ASSERT_EQ(found.compiled.size(), 1U);
  EXPECT_NE(found.compiled[0].libraries.at(0).problem, "");
  EXPECT_EQ(found.compiled[0].notes,
            (std::vector<std::string>{"data/aotinductor/model/x.wrapper_metadata.json holds no object"}));
  ASSERT_EQ(dangers(records).size(), 1U);
  EXPECT_TRUE(dangers(records)[0].starts_with(
      "compiled code, which loading the model would run; it is no library as compilers write them: "));
}

TEST(Compiled, SourcesWithFlagsAreCompiledByLoading) {
  pt2::Records records = pt2::Records::golden("weights.tied");
  records.set(std::string(kFolder) + "x.wrapper.cpp", std::string(kSource));
  EXPECT_EQ(dangers(records), (std::vector<std::string>{"has files of a compiled model 'model', whose code "
                                                        "loading would run, and no library"}));
  records.set(std::string(kFolder) + "x.wrapper_compile_flags.json", "{}");
  EXPECT_EQ(dangers(records), (std::vector<std::string>{
                                  "the compiled model 'model' is sources and flags: loading it hands words "
                                  "of this file to a shell, which runs a compiler"}));
  EXPECT_TRUE(inspect_file(records.file()).compiled.at(0).is_source_only);
}

TEST(Compiled, SourcesOfStrangersAreOnlyRead) {
  CompiledModel model;
  DescriptionBudget budget(100);
  read_compiled_source("inputs_info_[0].name\ninputs_info_[x].name = 3;\n_info_[0]. = ;\nin_spec_ = ;", model,
                       budget);
  EXPECT_EQ(model.inputs.size(), 0U);
  EXPECT_EQ(model.in_spec, "");
  EXPECT_THROW(read_compiled_source("inputs_info_[99999999].name = \"x\";", model, budget), std::exception);
}

}  // namespace
}  // namespace flambeau
