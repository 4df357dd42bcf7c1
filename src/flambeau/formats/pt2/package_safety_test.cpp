// What 'flambeau check' finds inside of a .pt2 file. Row 45: whatever PyTorch would unpickle is looked into,
// and nothing is run.
#include "flambeau/formats/pt2/package_test_files.h"
#include "flambeau/formats/safety/safety.h"

namespace flambeau::pt2 {
namespace {

constexpr std::string_view kEvil = "cos\nsystem\n(S'true'\ntR.";
const std::string kCall = "unpickling would import and call os.system, which can run anything";
const char* const kWeights = "data/weights/model_weights_config.json";

std::vector<std::string> findings(const std::shared_ptr<Mapping>& file) {
  std::vector<std::string> texts;
  for (const Finding& finding : check_file(file).findings) {
    if (finding.severity == Severity::kInfo) continue;
    const size_t slash = finding.record.find('/');
    texts.push_back(finding.record.substr(slash == std::string::npos ? 0 : slash + 1) + ": " +
                    finding.message);
  }
  return texts;
}
using Texts = std::vector<std::string>;

// A torch.save file whose pickle is this.
std::string torch_save(std::string_view pickle) {
  MemorySink sink;
  zip::Writer writer(sink, {});
  writer.add_text("data.pkl", pickle);
  writer.add_text("version", "3\n");
  writer.finish();
  return std::string(as_text(sink.buffer()));
}

TEST(PackageSafety, GoldenFilesAreHarmless) {
  for (const std::string& name : golden_names()) {
    EXPECT_EQ(findings(Mapping::from_text(program_json(name))), Texts()) << name;
    if (name == "weights.opaque" || name == "values.nested_inputs") continue;
    EXPECT_EQ(findings(Mapping::open(golden_path(name))), Texts()) << name;
  }
}

TEST(PackageSafety, ObjectsOfOtherClasses) {
  const Texts found = findings(Mapping::open(golden_path("weights.opaque")));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].starts_with("data/constants/opaque_obj_0: unpickling would import")) << found[0];
  // A named tuple among the inputs it was exported with.
  EXPECT_EQ(findings(Mapping::open(golden_path("values.nested_inputs"))),
            Texts{"data/sample_inputs/model.pt > archive/data.pkl: unpickling would import and call "
                  "programs_values.Pair, which is not on the list of names that only build data"});
}

TEST(PackageSafety, EveryPickleByItsName) {
  for (const char* name :
       {"data/sample_inputs/model.pt", "data/sample_inputs/other.pt", "data/constants/opaque_obj_0",
        "data/constants/custom_obj_7", "data/weights/model2.pt", "data/constants/model2.pt"}) {
    Records records = Records::golden("weights.tied");
    // Protocol 0 looks like text.
    records.set(name, std::string(kEvil));
    EXPECT_EQ(findings(records.file()), Texts{std::string(name) + ": " + kCall}) << name;
    records.set(name, torch_save(kEvil));
    EXPECT_EQ(findings(records.file()), Texts{std::string(name) + " > archive/data.pkl: " + kCall}) << name;
    // Python's unpickler stops at the end of the pickle; an archive may follow.
    records.set(name, std::string(kEvil) + torch_save("\x80\x02}."));
    const Texts found = findings(records.file());
    EXPECT_NE(std::find(found.begin(), found.end(), std::string(name) + ": " + kCall), found.end()) << name;
  }
}

TEST(PackageSafety, EveryPickleOfTheOlderLayout) {
  for (const char* name :
       {"serialized_state_dict.pt", "serialized_constants.pt", "serialized_example_inputs.pt"}) {
    Records records = Records::golden("weights.tied.old");
    records.set(name, torch_save(kEvil));
    Texts found;
    for (const Finding& finding : check_file(records.file()).findings)
      found.push_back(finding.record + ": " + finding.message);
    EXPECT_NE(std::find(found.begin(), found.end(), std::string(name) + " > archive/data.pkl: " + kCall),
              found.end())
        << name;
  }
}

// What is found in records, not in the program that misses its weights.
Texts findings_in_records(const std::shared_ptr<Mapping>& file) {
  Texts texts = findings(file);
  std::erase_if(texts, [](const std::string& text) { return text.starts_with("model.json: "); });
  return texts;
}

TEST(PackageSafety, WhatTheTableSaysIsPickled) {
  Records records = Records::golden("weights.tied");
  records.set(kWeights, R"({"config": {"w": {"path_name": "weight_0", "is_param": true, "use_pickle": true, )"
                        R"("tensor_meta": null}}})");
  records.set("data/weights/weight_0", std::string(kEvil));
  EXPECT_EQ(findings_in_records(records.file()), Texts{"data/weights/weight_0: " + kCall});
  EXPECT_EQ(findings_in_records(records.file(kWeights)), Texts{"data/weights/weight_0: " + kCall})
      << "compressed";
  records.set("data/weights/weight_0", torch_save("\x80\x02}."));
  EXPECT_EQ(findings_in_records(records.file()), Texts());
  records.set("data/weights/weight_0", "what is this");
  ASSERT_EQ(findings_in_records(records.file()).size(), 1U);
  EXPECT_TRUE(findings_in_records(records.file())[0].starts_with(
      "data/weights/weight_0: the bytes fit no kind of file"))
      << findings_in_records(records.file())[0];
  // A weight that is no pickle may have any bytes.
  records = Records::golden("weights.tied");
  const size_t size = records.text("data/weights/weight_0").size();
  records.set("data/weights/weight_0", std::string(kEvil) + std::string(size - kEvil.size(), ' '));
  EXPECT_EQ(findings(records.file()), Texts());
}

TEST(PackageSafety, RecordsThatHaveNoPlace) {
  const auto found = [](const char* name, std::string_view text) {
    Records records = Records::golden("weights.tied");
    records.set(name, std::string(text));
    return findings(records.file());
  };
  EXPECT_EQ(
      found("models/other.jsox", "{}"),
      Texts{"models/other.jsox: has a name that some reader of PyTorch asks for, and no place in a file of "
            "this kind"});
  EXPECT_EQ(found("DATA.PKL", kEvil).size(), 2U);
  EXPECT_EQ(found("notes", "abc"),
            Texts{"notes: is no record of this kind of file, and nothing says what it is"});
  EXPECT_EQ(found("extra/notes", "abc"), Texts());
}

// What PyTorch finds under torch.ops without it being an operator, and a function that imports.
TEST(PackageSafety, TargetsThatReachPython) {
  const auto found = [](const std::string& target) {
    Records records = Records::golden("weights.tied");
    std::string text(records.text("models/model.json"));
    const size_t at = text.find("torch.ops.");
    text.replace(at, text.find('"', at) - at, target);
    records.set("models/model.json", text);
    return check_file(records.file()).verdict(Opening::kModel).outcome;
  };
  for (const char* target : {"torch.export.custom_ops._call_custom_autograd_function_in_pre_dispatch",
                             "torch.ops.import_module.__self__.import_module", "torch.ops.load_library.f.g",
                             "torch.ops.quantized.__class__.mro", "torch.ops.aten.add.__call__",
                             "torch.ops.mine.add.__call__", "torch.ops.__class__.a.b"}) {
    EXPECT_EQ(found(target), Outcome::kDangerous) << target;
  }
  EXPECT_EQ(found("torch.ops.image.write_file.default"), Outcome::kCaution);
}

TEST(PackageSafety, TextsThatPyTorchEvaluates) {
  const auto found = [](std::string_view from, std::string_view to) {
    Records records = Records::golden("weights.tied");
    std::string text(records.text("models/model.json"));
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    records.set("models/model.json", text.replace(at, from.size(), to));
    const SafetyReport report = check_file(records.file());
    EXPECT_EQ(report.verdict(Opening::kModel).outcome, Outcome::kDangerous) << to;
    return report.findings.empty() ? std::string() : report.findings[0].message;
  };
  EXPECT_NE(found("\"guards_code\": []", "\"guards_code\": [\"exit()\"]").find("[unsafe-guard]"),
            std::string::npos);
}

TEST(PackageSafety, CompiledModels) {
  Records records = Records::golden("weights.tied");
  records.set("data/aotinductor/model/x.so",
              "\x7f"
              "ELF");
  EXPECT_EQ(findings(records.file()),
            Texts{"data/aotinductor/model/x.so: compiled code, which loading the model would run; it is no "
                  "library as compilers write them: class needs 1 bytes, 0 are left"});
}

TEST(PackageSafety, BrokenProgramsAreFindings) {
  Records records = Records::golden("weights.tied");
  records.set("models/model.json", "{");
  ASSERT_EQ(findings(records.file()).size(), 1U);
  EXPECT_NE(findings(records.file())[0].find("record 'models/model.json': "), std::string::npos);
  const Texts found = findings(Mapping::from_text(R"({"graph_module": {}})"));
  EXPECT_EQ(found, Texts{": at 'schema_version': the program states no schema version"});
}

}  // namespace
}  // namespace flambeau::pt2
