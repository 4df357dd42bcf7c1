// What a stranger's .pt2 file can get wrong, and what is said about it.
#include <fmt/format.h>

#include "flambeau/formats/pt2/package_test_files.h"
#include "flambeau/formats/pt2/payload_config.h"
#include "support/temporary_folder.h"

namespace flambeau::pt2 {
namespace {

const char* const kTable = "data/weights/model_weights_config.json";
const char* const kConstantsTable = "data/constants/model_constants_config.json";

Records tied() { return Records::golden("weights.tied"); }

// One float32[2, 3], with what a test wants to be different.
struct Entry {
  std::string path = "weight_0";
  std::string is_param = "true";
  std::string use_pickle = "false";
  std::string dtype = "7";
  std::string sizes = R"({"as_int": 2}, {"as_int": 3})";
  std::string strides = R"({"as_int": 3}, {"as_int": 1})";
  std::string offset = R"({"as_int": 0})";
  std::string layout = "7";
  std::string device = R"({"type": "cpu", "index": null})";

  std::string text() const {
    return fmt::format(
        R"({{"config": {{"w": {{"path_name": "{}", "is_param": {}, "use_pickle": {}, "tensor_meta": {{"dtype": {}, )"
        R"("sizes": [{}], "requires_grad": false, "device": {}, "strides": [{}], "storage_offset": {}, )"
        R"("layout": {}}}}}}}}})",
        path, is_param, use_pickle, dtype, sizes, device, strides, offset, layout);
  }
  // What is said when the model's weights are this one, over a record of so many bytes.
  std::string error(size_t record_size = 24) const {
    Records records = tied();
    records.set("data/weights/weight_0", std::string(record_size, 'w'));
    return read_error(records.set(kTable, text()));
  }
};

std::string int_of(std::string_view number) { return fmt::format(R"({{"as_int": {}}})", number); }

TEST(PackageError, TheEntryOfTheTestsIsFine) { EXPECT_EQ(Entry().error(), "no error"); }

// Row 44.
TEST(PackageError, PathsThatLeaveTheArchive) {
  for (const char* path :
       {"../x", "/etc/passwd", "a/b", "a\\\\b", "", "../constants/tensor_0", "weight_0/"}) {
    Entry entry;
    entry.path = path;
    const std::string shown = std::string_view(path) == "a\\\\b" ? "a\\b" : path;  // JSON's escape
    EXPECT_EQ(
        entry.error(),
        fmt::format("unsafe: weight 'w': the payload's path '{}' leaves the folder 'data/weights/'", shown));
    entry.use_pickle = "true";
    EXPECT_TRUE(entry.error().starts_with("unsafe: weight 'w': ")) << entry.error();
  }
  for (const char* path : {"..", ".", "weight_9", "WEIGHT_0", "weight_0\\u0000", "tensor_0"}) {
    Entry entry;
    entry.path = path;
    EXPECT_TRUE(entry.error().starts_with("corrupt: weight 'w': the record 'data/weights/")) << entry.error();
    EXPECT_TRUE(entry.error().ends_with("is missing (the file is incomplete: get it again)"))
        << entry.error();
  }
  Records records = tied();
  records.set(kConstantsTable, R"({"config": {"c": {"path_name": "tensor_0/../../x", "is_param": false, )"
                               R"("use_pickle": true, "tensor_meta": null}}})");
  EXPECT_EQ(
      read_error(records),
      "unsafe: constant 'c': the payload's path 'tensor_0/../../x' leaves the folder 'data/constants/'");
}

TEST(PackageError, SizesThatDoNotFitTheRecord) {
  EXPECT_EQ(Entry().error(23),
            "corrupt: weight 'w': the record has 23 bytes, which is no multiple of the element size 4");
  EXPECT_EQ(Entry().error(20),
            "corrupt: weight 'w': a float32 tensor of sizes [2, 3], strides [3, 1] and offset 0 needs 24 "
            "bytes, its "
            "storage has 20");
  Entry entry;
  entry.offset = int_of("1");
  EXPECT_NE(entry.error().find("needs 28 bytes"), std::string::npos) << entry.error();
  entry.offset = int_of("-1");
  EXPECT_TRUE(entry.error().starts_with("corrupt: weight 'w': ")) << entry.error();
}

TEST(PackageError, NumbersThatMakeNoSense) {
  const auto error = [](auto set) {
    Entry entry;
    set(entry);
    return entry.error();
  };
  for (const char* number : {"-1", "9223372036854775807", "-9223372036854775808"}) {
    EXPECT_TRUE(error([&](Entry& e) {
                  e.sizes = int_of(number) + ", " + int_of("3");
                }).starts_with("corrupt: weight 'w': "))
        << number;
    EXPECT_TRUE(error([&](Entry& e) {
                  e.strides = int_of(number) + ", " + int_of("1");
                }).starts_with("corrupt: weight 'w': "))
        << number;
    EXPECT_TRUE(error([&](Entry& e) { e.offset = int_of(number); }).starts_with("corrupt: weight 'w': "))
        << number;
  }
  EXPECT_TRUE(error([](Entry& e) { e.strides = int_of("1"); }).starts_with("corrupt: weight 'w': "));
  const std::string where = "record 'data/weights/model_weights_config.json': entry 'w': ";
  EXPECT_EQ(error([](Entry& e) { e.offset = int_of("9223372036854775808"); }),
            "corrupt: " + where + "expected a 64-bit integer, found the integer 9223372036854775808");
  EXPECT_EQ(error([](Entry& e) { e.offset = int_of("1.0"); }),
            "corrupt: " + where + "expected a 64-bit integer, found the number 1.0");
  EXPECT_EQ(error([](Entry& e) { e.offset = int_of("NaN"); }),
            "corrupt: " + where + "expected a 64-bit integer, found the number NaN");
  EXPECT_EQ(error([](Entry& e) { e.dtype = "77"; }),
            "unsupported: " + where + "77 is not the number of an element type that this version knows");
  EXPECT_EQ(error([](Entry& e) { e.layout = "0"; }),
            "unsupported: " + where + "0 is not the number of a layout that this version knows");
  EXPECT_EQ(error([](Entry& e) { e.layout = "1"; }),
            "unsupported: weight 'w': the weight has the layout sparse_coo, and only strided ones can "
            "be stored");
  EXPECT_EQ(error([](Entry& e) { e.offset = R"({"as_expr": {"expr_str": "s0", "hint": null}})"; }),
            "corrupt: weight 'w': the offset of a weight is an expression, not a number");
  EXPECT_EQ(error([](Entry& e) { e.sizes = R"({"as_expr": {"expr_str": "s0"}}, {"as_int": 3})"; }),
            "corrupt: weight 'w': a size of a weight is an expression, not a number");
  EXPECT_EQ(error([](Entry& e) { e.device = R"({"type": "", "index": 5})"; }),
            "corrupt: weight 'w': ':5' is not a device");
  EXPECT_EQ(error([](Entry& e) { e.device = R"({"type": "cuda", "index": -7})"; }),
            "corrupt: weight 'w': 'cuda:-7' is not a device");
  EXPECT_EQ(error([](Entry& e) { e.is_param = "1"; }),
            "corrupt: " + where + "expected a boolean, found the integer 1");
}

TEST(PackageError, HugeWeightsWithoutBytes) {
  Entry entry;
  entry.sizes = int_of("4611686018427387904");
  entry.strides = int_of("1");
  EXPECT_EQ(entry.error(0), "corrupt: weight 'w': the weight is larger than any memory");
  entry.sizes = int_of("1") + ", " + int_of("9223372036854775807");
  entry.strides = int_of("9223372036854775807") + ", " + int_of("9223372036854775807");
  EXPECT_TRUE(entry.error(0).starts_with("corrupt: weight 'w': ")) << entry.error(0);
}

TEST(PackageError, TablesOfTheWrongShape) {
  const auto error = [](const std::string& text) { return error_text([&] { read_payload_config(text); }); };
  EXPECT_EQ(error("[]"), "corrupt: expected an object, found an array");
  EXPECT_EQ(error("{}"), "corrupt: a table of payloads has no member 'config'");
  EXPECT_EQ(error(R"({"config": []})"), "corrupt: expected an object, found an array");
  EXPECT_EQ(error(R"({"config": {"a": 1}})"), "corrupt: entry 'a': expected an object, found the integer 1");
  EXPECT_EQ(error(R"({"config": {"a": {}}})"), "corrupt: entry 'a': an entry has no member 'path_name'");
  EXPECT_EQ(error(R"({"config": {"a": {"path_name": 1}}})"),
            "corrupt: entry 'a': expected a string, found the integer 1");
  EXPECT_EQ(error(R"({"config": {"a": {"path_name": "x"}}})"),
            "corrupt: entry 'a': an entry has no member 'is_param'");
  EXPECT_EQ(error(R"({"config": {"a": {}, "a": {}}})"),
            "corrupt: a JSON object has the key \"a\" more than once");
  EXPECT_TRUE(error("").starts_with("corrupt: "));
  EXPECT_TRUE(error_text([] { read_payload_config({}); }).starts_with("corrupt: "));
  EXPECT_TRUE(error(R"({"config": {"a": )" + std::string(1000, '[')).starts_with("limit: "));
  Entry entry;
  Records records = tied();
  records.set(kTable, R"({"config": {"w": {"path_name": "weight_0", "is_param": true, "use_pickle": false, )"
                      R"("tensor_meta": null}}})");
  EXPECT_EQ(read_error(records), "corrupt: weight 'w': the entry has no description of its tensor");
  records.set(kConstantsTable,
              R"({"config": {"c": {"path_name": "else_0", "is_param": false, "use_pickle": true, )"
              R"("tensor_meta": null}}})");
  records.set(kTable, entry.text()).set("data/weights/weight_0", std::string(24, 'w'));
  EXPECT_EQ(read_error(records),
            "unsupported: constant 'c': 'else_0' is not a kind of constant that this version knows");
}

TEST(PackageError, MissingRecords) {
  EXPECT_EQ(read_error(tied().remove("data/weights/weight_0")).substr(0, 16), "corrupt: weight ");
  EXPECT_EQ(read_error(tied().remove(kTable)),
            "corrupt: the record 'data/weights/model_weights_config.json' is missing");
  EXPECT_EQ(read_error(tied().remove(kConstantsTable)),
            "corrupt: the record 'data/constants/model_constants_config.json' is missing");
  // PyTorch does without these, and so do we.
  EXPECT_EQ(read_error(tied().remove("data/sample_inputs/model.pt")), "no error");
  EXPECT_EQ(read_error(tied().remove("byteorder")), "no error");
  EXPECT_EQ(read_error(tied().remove("models/model.json")), "no error");
  EXPECT_EQ(read_error(tied().remove("archive_format")).substr(0, 55),
            "unsupported: is no exported program: it is a zip archiv");
}

TEST(PackageError, Versions) {
  EXPECT_EQ(read_error(tied().set("archive_version", "1")),
            "unsupported: the archive's version is '1', and this version of Flambeau reads '0' (use a newer "
            "Flambeau)");
  EXPECT_EQ(
      read_error(tied().set("archive_version", "0\n")),
      "unsupported: the archive's version is '0\\x0a', and this version of Flambeau reads '0' (use a newer "
      "Flambeau)");
  EXPECT_EQ(read_error(tied().set("byteorder", "big")),
            "unsupported: the archive's weights are big-endian, which PyTorch does not read either");
  EXPECT_TRUE(read_error(tied().set("byteorder", "middle")).starts_with("corrupt: "))
      << read_error(tied().set("byteorder", "middle"));
}

TEST(PackageError, TwoModelsAndOneRecord) {
  Records records = Records::golden("values.packaged");
  records.edit("data/weights/zweites_weights_config.json", "weight_1", "weight_0");
  Package package = load_package(records.file());
  const Tensor& first = package.model("model").program.state_dict[0].tensor;
  const Tensor& second = package.model("zweites").program.state_dict[0].tensor;
  EXPECT_EQ(first.storage(), second.storage());
  EXPECT_EQ(package.others.size(), 1U) << "the record that nobody uses";
  Package again = load_package(Mapping::from_text(written(package)));
  EXPECT_EQ(again.model("zweites").program.state_dict[0].tensor.storage()->size(), 4U);
  EXPECT_EQ(again.others.size(), 1U);
}

TEST(PackageError, TwoModelsAndOneFakeRecord) {
  Records records = Records::golden("values.packaged");
  records.edit("data/weights/zweites_weights_config.json", "weight_1", "weight_0");
  records.edit("data/weights/zweites_weights_config.json", R"("sizes": [)", R"("sizes": [{"as_int": 50}, )");
  records.edit("data/weights/zweites_weights_config.json", R"("strides": [)",
               R"("strides": [{"as_int": 1}, )");
  records.set("data/weights/weight_0", "");
  EXPECT_EQ(read_error(records), "no error");
}

TEST(PackageError, OtherFiles) {
  EXPECT_EQ(error_text([] { load_package(Mapping::from_text("{}")); }),
            "unsupported: is no exported program: it is a file of no known kind (give a file that "
            "torch.export.save "
            "wrote)");
  EXPECT_TRUE(
      error_text([] { load_package(Mapping::from_text("")); }).starts_with("unsupported: is no exported"));
  const testing::TemporaryFolder folder;
  const std::string path = folder / "a.pt2";
  testing::write_file(path, R"({"graph_module": 1})");
  EXPECT_EQ(error_text([&] { load_package(path); }),
            "corrupt: " + path + ": expected an object, found the integer 1");
}

// Every cut leaves an Error, never a program.
TEST(PackageError, CutShort) {
  for (const char* name : {"weights.tied", "weights.tied.old", "weights.fake"}) {
    const std::string bytes = testing::read_file(golden_path(name));
    for (size_t size = 0; size < bytes.size(); size += 1 + size / 40) {
      const std::string error = error_text([&] { load_package(Mapping::from_text(bytes.substr(0, size))); });
      EXPECT_TRUE(error.starts_with("corrupt: ") || error.starts_with("unsupported: "))
          << size << " " << error;
    }
  }
}

TEST(PackageError, RecordsThatAreDamaged) {
  for (const char* name : {"models/model.json", kTable, kConstantsTable, "archive_version"}) {
    const Records records = tied();
    std::string bytes(as_text(records.file()->bytes()));
    const std::string& content = records.text(name);
    const size_t at = bytes.find(content, bytes.find(name));
    ASSERT_NE(at, std::string::npos);
    bytes[at + content.size() / 2] ^= 1;
    const std::string error = error_text([&] { load_package(Mapping::from_text(bytes)); });
    EXPECT_TRUE(error.starts_with("corrupt: ")) << error;
    EXPECT_NE(error.find("CRC"), std::string::npos) << error;
  }
}

// The older layout.
TEST(PackageError, OlderLayout) {
  const auto old = [] { return Records::golden("weights.tied.old"); };
  EXPECT_EQ(read_error(old().set("serialized_exported_program.json", "[]")),
            "corrupt: record 'serialized_exported_program.json': expected an object, found an array");
  const std::string weights = read_error(old().set("serialized_state_dict.pt", "no file"));
  EXPECT_TRUE(weights.starts_with("unsupported: record 'serialized_state_dict.pt': ")) << weights;
  const std::string evil = read_error(old().set("serialized_state_dict.pt", "cos\nsystem\n(S'true'\ntR."));
  EXPECT_TRUE(evil.starts_with("unsupported: record 'serialized_state_dict.pt': ")) << evil;
  // Nothing needs the inputs it was exported with, so nobody opens them.
  EXPECT_EQ(read_error(old().set("serialized_example_inputs.pt", "cos\nsystem\n(S'true'\ntR.")), "no error");
  const Package package = load_package(old().set("unknown", "x").file());
  EXPECT_EQ(package.notes, Notes{"the record 'unknown' is not part of the layout; left out"});
}

}  // namespace
}  // namespace flambeau::pt2
