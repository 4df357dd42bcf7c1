#include "flambeau/formats/pt2/package.h"

#include <fmt/format.h>

#include <cerrno>
#include <set>

#include "flambeau/base/files/faulty_file_api.h"
#include "flambeau/formats/pt2/package_test_files.h"
#include "flambeau/graph/text/print.h"
#include "support/temporary_folder.h"

namespace flambeau::pt2 {
namespace {

using graph::Weight;
using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

const char* const kWeightsTable = "data/weights/model_weights_config.json";
const char* const kConstants = "data/constants/model_constants_config.json";

const Weight& weight_named(const std::vector<Weight>& weights, std::string_view name) {
  for (const Weight& weight : weights) {
    if (weight.name == name) return weight;
  }
  throw std::runtime_error("no weight " + std::string(name));
}

std::vector<std::string> names_of(const std::vector<Record>& records) {
  std::vector<std::string> names;
  for (const Record& record : records) names.push_back(record.name);
  return names;
}

TEST(Package, LayoutsHaveNames) {
  for (const PackageLayout layout : {PackageLayout::kArchive, PackageLayout::kZip, PackageLayout::kJson}) {
    EXPECT_EQ(layout_from_name(layout_name(layout)), layout);
  }
  EXPECT_EQ(layout_from_name("tar"), std::nullopt);
}

TEST(Package, SeveralModelsAndExtraFiles) {
  Package package = load_package(golden_path("values.packaged"));
  ASSERT_EQ(package.models.size(), 3U);
  EXPECT_EQ(package.models[0].name, "model");
  EXPECT_EQ(package.models[1].name, "zweites");
  EXPECT_EQ(package.models[2].name, "another.one");
  EXPECT_EQ(&package.model(), &package.models[0]);
  EXPECT_EQ(&package.model("another.one"), &package.models[2]);
  EXPECT_EQ(error_text([&] { package.model("x\n"); }),
            "not_found: there is no program 'x\\x0a'; there is 'model', 'zweites', 'another.one'");
  package.models.erase(package.models.begin());
  EXPECT_EQ(error_text([&] { package.model(); }),
            "not_found: the archive has several programs: 'zweites', 'another.one' (name one of them)");
  package.models.clear();
  EXPECT_EQ(error_text([&] { package.model(); }), "not_found: the archive has no exported program");
  EXPECT_EQ(names_of(package.extra_files),
            (std::vector<std::string>{"notes.txt", "folder/config.json", "empty"}));
  EXPECT_EQ(package.extra_files[2].bytes->size(), 0U);
}

TEST(Package, OneModelOfSeveral) {
  Package package = load_package(golden_path("values.packaged"));
  EXPECT_EQ(
      error_text([&] { written(package, PackageLayout::kZip); }),
      "unsupported: the older layout holds one program, and there are 3 (save in the archive layout, or take "
      "one of the programs)");
  EXPECT_EQ(error_text([&] { written(package, PackageLayout::kJson); }),
            "unsupported: a JSON file holds one program, and there are 3 (take one of the programs)");
  package.models.erase(package.models.begin(), package.models.begin() + 2);
  const Records records = Records::of(Mapping::from_text(written(package)));
  EXPECT_TRUE(records.has("models/another.one.json"));
  EXPECT_TRUE(records.has("data/weights/weight_0"));
  EXPECT_FALSE(records.has("models/model.json"));
  const Package old = load_package(Mapping::from_text(written(package, PackageLayout::kZip)));
  EXPECT_EQ(names_of(old.extra_files), names_of(package.extra_files));
}

TEST(Package, WhatItDoesNotKnowStays) {
  Records records = Records::golden("weights.tied");
  records.set("data/aotinductor/model/x.so", std::string("\x7f") + "ELF and more");
  records.set("data/aotinductor/model/x.json", "{}");
  records.set("data/weights/weight_0_of_something", "left over");
  records.set("later/record", std::string(300, '\1'));
  records.set("models/readme", "no program");
  const auto file = records.file();
  const Package package = load_package(file);
  EXPECT_EQ(
      names_of(package.others),
      (std::vector<std::string>{"data/aotinductor/model/x.so", "data/aotinductor/model/x.json",
                                "data/weights/weight_0_of_something", "later/record", "models/readme"}));
  EXPECT_EQ(package.models.size(), 1U);
  EXPECT_TRUE(written(package) == as_text(file->bytes()));
  EXPECT_EQ(error_text([&] { written(package, PackageLayout::kZip); }),
            "unsupported: the older layout has no place for 'data/aotinductor/model/x.so' (save in the "
            "archive layout)");
}

TEST(Package, RecordsWithoutAnOwnerDoNotGetInTheWay) {
  // weight_0 belongs to nobody, so the weights are written under other names.
  Records records = Records::golden("weights.tied");
  const std::string bytes = records.text("data/weights/weight_0");
  std::string table = records.text(kWeightsTable);
  for (size_t at = 0; (at = table.find("\"weight_0\"", at)) != std::string::npos;)
    table.replace(at, 10, "\"weight_9\"");
  records.set(kWeightsTable, table)
      .set("data/weights/weight_9", bytes)
      .set("data/weights/weight_0", "nobody's");
  const Package package = load_package(records.file());
  const Records again = Records::of(Mapping::from_text(written(package)));
  EXPECT_EQ(again.text("data/weights/weight_0"), "nobody's");
  EXPECT_EQ(again.text("data/weights/weight_1"), bytes);
  EXPECT_EQ(load_package(again.file()).models[0].program.state_dict.size(),
            package.models[0].program.state_dict.size());
}

TEST(Package, OnlyACompiledModel) {
  Records records = Records::golden("weights.tied");
  for (const std::string& name : records.names()) {
    if (name.starts_with("models/") || name.starts_with("data/")) records.remove(name);
  }
  records.set("data/aotinductor/model/x.so", std::string("\x7f") + "ELF");
  Package package = load_package(records.file());
  EXPECT_TRUE(package.models.empty());
  EXPECT_EQ(names_of(package.others), std::vector<std::string>{"data/aotinductor/model/x.so"});
  EXPECT_EQ(error_text([&] { package.model(); }), "not_found: the archive has no exported program");
  EXPECT_TRUE(written(package) == as_text(records.file()->bytes()));
}

TEST(Package, TiedWeightsAndViewsStayAliased) {
  Package tied = load_package(golden_path("weights.tied"));
  const std::vector<Weight>& weights = tied.model().program.state_dict;
  ASSERT_GE(weights.size(), 2U);
  std::set<const Storage*> storages;
  for (const Weight& weight : weights) storages.insert(weight.tensor.storage().get());
  EXPECT_LT(storages.size(), weights.size());

  Package views = load_package(golden_path("weights.views"));
  const Tensor& whole = weight_named(views.model().program.state_dict, "whole").tensor;
  const Tensor& turned = weight_named(views.model().program.state_dict, "turned").tensor;
  EXPECT_EQ(whole.storage(), turned.storage());
  EXPECT_EQ(turned.strides(), (Dims{1, 6}));
  // In the older layout too.
  Package old = load_package(Mapping::from_text(written(views, PackageLayout::kZip)));
  const std::vector<Weight>& again = old.model().program.state_dict;
  EXPECT_EQ(weight_named(again, "whole").tensor.storage(), weight_named(again, "part").tensor.storage());
  EXPECT_EQ(weight_named(again, "part").tensor.offset(), 4);
}

TEST(Package, WeightsStayInTheMapping) {
  const auto file = Mapping::open(golden_path("weights.views"));
  Package package = load_package(file);
  const Tensor& whole = weight_named(package.model().program.state_dict, "whole").tensor;
  const ByteSpan bytes = whole.storage()->bytes();
  EXPECT_GE(bytes.data(), file->bytes().data());
  EXPECT_LE(bytes.data() + bytes.size(), file->bytes().data() + file->size());
  EXPECT_EQ((bytes.data() - file->bytes().data()) % 64, 0);
}

TEST(Package, WeightsAreNotReadBeforeTheyAreWanted) {
  const TemporaryFolder folder;
  const std::string path = folder / "large.pt2";
  Records records = Records::golden("weights.views");
  records.set("data/weights/weight_0", std::string(96, '\xa5'));
  std::string bytes(as_text(records.file()->bytes()));
  // They are wrong by their checksum: opening does not look at them.
  const size_t at = bytes.find(std::string(96, '\xa5'));
  ASSERT_NE(at, std::string::npos);
  bytes[at] = '\x5a';
  write_file(path, bytes);
  Package package = load_package(path);
  EXPECT_EQ(package.model().program.state_dict.size(), 7U);
}

TEST(Package, FakeWeightsTakeNoMemory) {
  Records records = Records::golden("weights.fake");
  Package package = load_package(records.file());
  for (const Weight& weight : package.model().program.state_dict) {
    EXPECT_TRUE(weight.tensor.storage()->is_meta()) << weight.name;
    EXPECT_EQ(weight.tensor.device().to_string(), "cpu");
  }
  // 2^40 floats cost what two cost.
  const std::string table =
      R"({"config": {"a": {"path_name": "weight_0", "is_param": true, "use_pickle": false, "tensor_meta": {"dtype": 7, )"
      R"("sizes": [{"as_int": 1099511627776}], "requires_grad": true, "device": {"type": "cpu", "index": null}, )"
      R"("strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7}}, )"
      R"("b": {"path_name": "weight_0", "is_param": false, "use_pickle": false, "tensor_meta": {"dtype": 7, )"
      R"("sizes": [], "requires_grad": false, "device": {"type": "cpu", "index": null}, )"
      R"("strides": [], "storage_offset": {"as_int": 9}, "layout": 7}}}})";
  records.set(kWeightsTable, table);
  package = load_package(records.file());
  EXPECT_EQ(package.model().program.state_dict[0].tensor.storage()->size(), 1ULL << 42);
  EXPECT_EQ(package.model().program.state_dict[0].tensor.storage(),
            package.model().program.state_dict[1].tensor.storage());
  EXPECT_TRUE(written(package) == as_text(records.file()->bytes()));
}

TEST(Package, PickledWeightsAndObjectsAreKeptAndNotOpened) {
  Records records = Records::golden("weights.opaque");
  const std::string evil = "cos\nsystem\n(S'true'\ntR.";
  const std::string entry =
      R"("path_name": "weight_0", "is_param": true, "use_pickle": true, "tensor_meta": )";
  records.set(kWeightsTable, R"({"config": {"w": {)" + entry + R"(null}}})");
  records.set("data/weights/weight_0", evil);
  const std::string object = records.text("data/constants/opaque_obj_0");
  Package package = load_package(records.file());
  const graph::ExportedProgram& program = package.model().program;
  ASSERT_EQ(program.state_dict.size(), 1U);
  ASSERT_NE(program.state_dict[0].pickled, nullptr);
  EXPECT_FALSE(program.state_dict[0].tensor.defined());
  EXPECT_TRUE(program.state_dict[0].is_parameter);
  EXPECT_EQ(bytes_of(program.state_dict[0].pickled->bytes), evil);
  EXPECT_FALSE(program.state_dict[0].pickled->meta.has_value());
  ASSERT_EQ(program.objects.size(), 1U);
  EXPECT_TRUE(program.objects[0].is_opaque);
  EXPECT_EQ(bytes_of(program.objects[0].bytes), object);
  const Records again = Records::of(Mapping::from_text(written(package)));
  EXPECT_EQ(again.text("data/weights/weight_0"), evil);
  EXPECT_EQ(again.text(kWeightsTable), records.text(kWeightsTable));
  EXPECT_EQ(again.text("data/constants/opaque_obj_0"), object);
  EXPECT_EQ(error_text([&] { written(package, PackageLayout::kZip); }).substr(0, 53),
            "unsupported: the older layout cannot hold the object ");
  package.models[0].program.objects.clear();
  EXPECT_EQ(error_text([&] { written(package, PackageLayout::kZip); }),
            "unsupported: 'w' is a tensor of a class of its own, which the older layout cannot hold (save it "
            "in the "
            "archive layout)");
}

TEST(Package, MembersOfNewerTables) {
  Records records = Records::golden("weights.tied");
  records.edit(kWeightsTable, R"("index": null})", R"("index": null, "newer": [1]})");
  records.edit(kWeightsTable, R"("layout": 7})", R"("layout": 7, "newer": {"a": 1}})");
  records.edit(kWeightsTable, "}}, ", R"(}, "newer": "x"}, )");
  Package package = load_package(records.file());
  EXPECT_TRUE(written(package) == as_text(records.file()->bytes()));
  Records opaque = Records::golden("weights.opaque");
  opaque.edit(kConstants, R"("tensor_meta": null)", R"("tensor_meta": null, "newer": 1)");
  EXPECT_TRUE(written(load_package(opaque.file())) == as_text(opaque.file()->bytes()));
}

TEST(Package, DevicesThatOnlyTheirWriterKnows) {
  Records records = Records::golden("weights.tied");
  std::string table = records.text(kWeightsTable);
  for (size_t at = 0; (at = table.find(R"("type": "cpu", "index": null)", at)) != std::string::npos;) {
    table.replace(at, 28, R"("type": "npu", "index": 3)");
  }
  records.set(kWeightsTable, table);
  EXPECT_TRUE(written(load_package(records.file())) == as_text(records.file()->bytes()));
}

TEST(Package, CompressedRecordsAreReadToo) {
  Records records = Records::golden("weights.views");
  records.set("extra/note.txt", std::string(1000, 'n'));
  for (const char* name : {"data/weights/weight_0", "models/model.json", kWeightsTable,
                           "data/sample_inputs/model.pt", "extra/note.txt"}) {
    const Package package = load_package(records.file(name));
    EXPECT_TRUE(written(package) == as_text(records.file()->bytes())) << name;
    const Package old = load_package(Mapping::from_text(written(package, PackageLayout::kZip)));
    EXPECT_EQ(old.extra_files.size(), 1U);
  }
}

TEST(Package, WithoutAVersionItIsTakenToBeTheFirst) {
  Records records = Records::golden("weights.tied");
  records.remove("archive_version");
  const Package package = load_package(records.file());
  EXPECT_EQ(package.notes, Notes{"the archive does not say its version; taken to be 0"});
  EXPECT_TRUE(Records::of(Mapping::from_text(written(package))).has("archive_version"));
}

TEST(Package, AProgramWithoutWeightsStaysOne) {
  const Package package = load_package(Mapping::from_text(program_json("weights.tied")));
  for (const PackageLayout layout : {PackageLayout::kArchive, PackageLayout::kZip}) {
    EXPECT_EQ(
        error_text([&] { written(package, layout); }),
        "invalid_argument: the program was read without weights, and cannot be saved with them (save it as "
        ".json, or with the --weights of another file)");
  }
}

TEST(Package, TextThatWasEditedGetsItsWeightsBack) {
  const std::string path = FLAMBEAU_GOLDEN_DIR "/pt2/weights.tied.pt2";
  const Package original = load_package(path);
  graph::TextOptions options;
  options.lossless = true;
  const std::string text = to_text(original.models[0].program, options);
  Package package = load_package(Mapping::from_text(text));
  EXPECT_EQ(package.layout, PackageLayout::kJson);
  EXPECT_FALSE(package.models[0].program.has_weights);
  take_weights(package, original);
  EXPECT_EQ(package.models[0].program.state_dict.size(), original.models[0].program.state_dict.size());
  EXPECT_EQ(write_program(package.models[0].program), write_program(original.models[0].program));
  package.models[0].name = "other";
  EXPECT_EQ(error_text([&] { take_weights(package, original); }),
            "not_found: there are no weights for the program 'other'");
}

TEST(Package, NamesOfPrograms) {
  Package package = load_package(golden_path("weights.tied"));
  const auto error = [&](const char* name) {
    package.models[0].name = name;
    return error_text([&] { written(package); });
  };
  EXPECT_EQ(error(""), "invalid_argument: a program in an archive needs a name");
  for (const char* name : {"a\\b", "../b", "a/../../b"}) {
    EXPECT_TRUE(error(name).starts_with("invalid_argument: ")) << error(name);
  }
  // PyTorch takes any of these.
  for (const char* name : {"name", "a/b", "a.b", "\xc3\xa9"}) {
    EXPECT_EQ(error(name), "no error");
    const std::string bytes = written(package);
    const Package again = load_package(Mapping::from_text(bytes));
    EXPECT_EQ(again.models.at(0).name, name);
    EXPECT_TRUE(written(again) == bytes);
  }
  Records records = Records::golden("weights.tied");
  records.set("models/.json", "{}");
  EXPECT_EQ(load_package(records.file()).others.size(), 1U);
}

TEST(Package, WeightsOfPyTorch28) {
  // A torch.save file in place of the table; the table may be there as well.
  const Records old = Records::golden("weights.tied.old");
  Records records = Records::golden("weights.tied");
  records.set("data/weights/model.pt", old.text("serialized_state_dict.pt"));
  records.set("data/constants/model.pt", old.text("serialized_constants.pt"));
  Package package = load_package(records.file());
  EXPECT_EQ(package.notes, (Notes{"weights taken from 'data/weights/model.pt', the form of PyTorch 2.8",
                                  "weights taken from 'data/constants/model.pt', the form of PyTorch 2.8"}));
  EXPECT_EQ(package.model().program.state_dict.size(), 3U);
  EXPECT_EQ(package.model().program.state_dict[0].tensor.storage(),
            package.model().program.state_dict[2].tensor.storage());
  const Package again = load_package(Mapping::from_text(written(package)));
  EXPECT_EQ(again.notes, Notes());
  EXPECT_EQ(again.models[0].program.state_dict.size(), 3U);
}

TEST(Package, RecordsOutsideOfTheFolder) {
  MemorySink sink;
  zip::Writer writer(sink, {.top_folder = ""});
  const Records records = Records::golden("weights.tied");
  for (const std::string& name : records.names()) writer.add_text("top/" + name, records.text(name));
  writer.add_text("elsewhere/x", "1");
  writer.finish();
  EXPECT_EQ(load_package(Mapping::from_buffer(sink.take())).notes,
            Notes{"1 records are not in the archive's folder 'top', the first is 'elsewhere/x': left out"});
}

// Row 57: whichever call fails, the old file or the new one stands there.
TEST(SavePackage, EveryCallThatFails) {
  const TemporaryFolder folder;
  const std::string target = folder / "a.pt2";
  const std::string old(5000, 'o');
  const Package package = load_package(golden_path("weights.tied"));
  const std::string expected = read_file(golden_path("weights.tied"));
  for (const bool is_named : {false, true}) {
    int at = 1;
    for (;; ++at) {
      FaultyFileApi api;
      if (is_named) api.refuse_unnamed();
      api.fail_call(at, EIO);
      write_file(target, old);
      bool threw = false;
      try {
        save_package(package, target, PackageLayout::kArchive, Progress::silent(), api);
      } catch (const Error& error) {
        threw = true;
        EXPECT_EQ(error.code(), ErrorCode::kIo) << error.what();
        EXPECT_TRUE(std::string_view(error.what()).starts_with(target + ": ")) << error.what();
      }
      const std::string now = read_file(target);
      EXPECT_TRUE(now == expected || (threw && now == old)) << "after " << api.failed();
      EXPECT_EQ(folder.names(), std::vector<std::string>{"a.pt2"}) << "after " << api.failed();
      if (api.failed().empty()) break;
    }
    EXPECT_GT(at, 8);
  }
}

TEST(SavePackage, ErrorsOfTheProgramLeaveTheOldFile) {
  const TemporaryFolder folder;
  const std::string target = folder / "a.pt2";
  write_file(target, "old");
  const Package package = load_package(golden_path("values.packaged"));
  EXPECT_EQ(
      error_text([&] { save_package(package, target, PackageLayout::kZip); }).substr(0, 14 + target.size()),
      "unsupported: " + target + ":");
  EXPECT_EQ(read_file(target), "old");
}

// Row 58: over its own source.
TEST(SavePackage, OverItself) {
  const TemporaryFolder folder;
  const std::string path = folder / "weights.views.pt2";
  write_file(path, read_file(golden_path("weights.views")));
  const Package package = load_package(path);
  save_package(package, path, PackageLayout::kArchive);
  EXPECT_TRUE(read_file(path) == read_file(golden_path("weights.views")));
  save_package(package, path, PackageLayout::kZip);
  save_package(load_package(path), path, PackageLayout::kArchive);
  EXPECT_EQ(load_package(path).models[0].program.state_dict.size(), 7U);
  EXPECT_TRUE(written(package) == read_file(golden_path("weights.views"))) << "the first mapping";
}

}  // namespace
}  // namespace flambeau::pt2
