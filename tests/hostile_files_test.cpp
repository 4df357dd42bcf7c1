// Files that were made to cost more than they are: each is opened or refused within 64 MB plus 16 times its
// size (measured in the sanitizer build), and in no time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "flambeau/archive/zip/writer.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/checkpoint.h"
#include "flambeau/formats/convert.h"
#include "flambeau/formats/expansion.h"
#include "flambeau/formats/inspect.h"
#include "flambeau/formats/safety/safety.h"
#include "flambeau/tensor/elements/statistics.h"
#include "hostile/exercise.h"
#include "hostile/heap_meter.h"

namespace flambeau::hostile {
namespace {

using namespace std::string_literals;

// Pieces of pickles.
std::string number(int64_t value) {
  ByteWriter writer;
  writer.text("\x8a\x08");
  writer.le(value);
  return writer.take();
}
std::string text(std::string_view value) {
  ByteWriter writer;
  writer.u8('X');
  writer.le(static_cast<uint32_t>(value.size()));
  writer.text(value);
  return writer.take();
}
std::string tuple(std::initializer_list<std::string> parts) {
  std::string result = "(";
  for (const std::string& part : parts) result += part;
  return result + "t";
}
std::string times(size_t count, const std::string& part) {
  std::string result;
  result.reserve(count * part.size());
  for (size_t i = 0; i < count; ++i) result += part;
  return result;
}
std::string storage(std::string_view type, int64_t count, const std::string& view = "") {
  return tuple({text("storage"), "ctorch\n" + std::string(type) + "\n", text("0"), text("cpu"), number(count),
                view}) +
         "Q";
}
const std::string kNoHooks = "ccollections\nOrderedDict\n)R";
std::string tensor_args(const std::string& storage_id, std::initializer_list<int64_t> sizes,
                        std::initializer_list<int64_t> strides, const std::string& marks = "") {
  std::string size_list = "(";
  std::string stride_list = "(";
  for (const int64_t size : sizes) size_list += number(size);
  for (const int64_t stride : strides) stride_list += number(stride);
  return tuple({storage_id, "K\0"s, size_list + "t", stride_list + "t", "\x89", kNoHooks, marks});
}
const std::string kRebuild = "ctorch._utils\n_rebuild_tensor_v2\n";

std::shared_ptr<Mapping> zip_file(std::initializer_list<std::pair<std::string, std::string>> records,
                                  std::string_view deflated = "") {
  MemorySink sink;
  zip::Writer writer(sink, {});
  for (const auto& [name, data] : records) {
    if (name == deflated) {
      writer.add_deflated(name, as_bytes(data));
    } else {
      writer.add_text(name, data);
    }
  }
  writer.finish();
  return Mapping::from_buffer(sink.take());
}
std::shared_ptr<Mapping> torch_file(const std::string& pickle,
                                    const std::string& data = std::string(16, '\0')) {
  return zip_file({{"data.pkl", "\x80\x02" + pickle + "."}, {"data/0", data}, {"version", "3\n"}});
}

std::string name_of(std::optional<ErrorCode> code) {
  return code ? std::string(error_code_name(*code)) : "opened";
}

// Does everything to the file; gives how it was refused, or "opened".
std::string outcome(const std::shared_ptr<Mapping>& file) {
  HeapMeter::reset();
  const std::string result = name_of(exercise(file));
  EXPECT_LE(HeapMeter::peak(), (64ULL << 20) + 16 * file->size()) << "for a file of " << file->size();
  return result;
}

template <typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return fmt::format("{}: {}", error_code_name(error.code()), error.message());
  }
  return "no error";
}

TEST(HostileFiles, StridesOfZero) {
  const auto file = torch_file("}" + text("x") + kRebuild +
                               tensor_args(storage("FloatStorage", 4), {1LL << 40}, {0}) + "Rs");
  EXPECT_EQ(outcome(file), "opened");
  const Checkpoint checkpoint = load_checkpoint(file);
  MemorySink sink;
  const std::string expected =
      "limit: float32[1099511627776] takes 4398046511104 bytes when laid out, and the tensors before it 0; "
      "the "
      "file stores 16 in all, which allows 67108864";
  EXPECT_EQ(error_of([&] { write_checkpoint(sink, checkpoint, FileKind::kSafetensors); }), expected);
  EXPECT_EQ(error_of([&] { write_checkpoint(sink, checkpoint, FileKind::kNpz); }), expected);
  EXPECT_EQ(sink.position(), 0U);
  // A view stays a view, whatever is stored is converted once.
  ConvertOptions options;
  options.dtype = DType::kFloat16;
  const Checkpoint converted = transform(load_checkpoint(file), options);
  EXPECT_EQ(converted.tensors()[0].tensor.storage()->size(), 8U);
  write_checkpoint(sink, converted, FileKind::kTorchSave);
  EXPECT_LT(sink.position(), 2000U);
}

TEST(HostileFiles, SizesThatWrapWhenMultipliedByTheElement) {
  EXPECT_EQ(error_of([&] {
              load_checkpoint(torch_file("}" + text("x") + kRebuild +
                                         tensor_args(storage("DoubleStorage", 2), {1LL << 61}, {0}) + "Rs"));
            }),
            "corrupt: the size of a tensor in bytes does not fit in a 64-bit number");
}

TEST(HostileFiles, ManyViewsOfOneStorage) {
  std::string views;
  for (int i = 0; i < 1000; ++i) {
    views += text("x" + std::to_string(i)) + kRebuild +
             tensor_args(storage("FloatStorage", 1 << 16), {1 << 16}, {1}) + "R";
  }
  const auto file = torch_file("}(" + views + "u", std::string(1 << 18, '\1'));
  EXPECT_EQ(outcome(file), "opened");
  MemorySink sink;
  EXPECT_EQ(error_of([&] { write_checkpoint(sink, load_checkpoint(file), FileKind::kNpz); }).substr(0, 34),
            "limit: float32[65536] takes 262144");
}

TEST(HostileFiles, MarkedViewsShareOneStorage) {
  const std::string negated = "}" + text("neg") + "\x88s";
  std::string views;
  for (int i = 0; i < 500; ++i) {
    views += text("x" + std::to_string(i)) + kRebuild +
             tensor_args(storage("FloatStorage", 1 << 18), {1 << 18}, {1}, negated) + "R";
  }
  ByteWriter data;
  for (int i = 0; i < 1 << 18; ++i) data.le(static_cast<float>(i));
  const auto file = torch_file("}(" + views + "u", data.take());
  EXPECT_EQ(outcome(file), "opened");
  const Checkpoint checkpoint = load_checkpoint(file);
  EXPECT_EQ(checkpoint.tensors()[0].tensor.storage(), checkpoint.tensors()[499].tensor.storage());
  EXPECT_EQ(std::get<float>(*statistics(checkpoint.tensors()[7].tensor).min), -262143.0F);
}

TEST(HostileFiles, ConjugatedAndTurned) {
  const std::string marks = "}" + text("conj") + "\x88s";
  ByteWriter data;
  for (const float part : {1.0F, 2.0F, 3.0F, -4.0F}) data.le(part);
  const Checkpoint checkpoint = load_checkpoint(
      torch_file("}" + text("x") + kRebuild +
                     tensor_args(storage("ComplexFloatStorage", 2), {2, 2}, {0, 1}, marks) + "Rs",
                 data.take()));
  const Tensor packed = checkpoint.tensors()[0].tensor.to_contiguous();
  std::vector<float> parts;
  for (size_t at = 0; at < 32; at += 4)
    parts.push_back(load_le<float>(packed.contiguous_bytes().data() + at));
  EXPECT_EQ(parts, (std::vector<float>{1, -2, 3, 4, 1, -2, 3, 4}));
}

TEST(HostileFiles, ArraysShareTheirBytes) {
  const std::string type = "cnumpy\ndtype\n" + tuple({text("u1"), "K\0"s, "K\1"}) + "R" +
                           tuple({"K\3", text("|"), "N", "N", "N", number(-1), number(-1), "K\0"s}) + "bq\2";
  const std::string array = "cnumpy.core.multiarray\n_reconstruct\n" +
                            tuple({"cnumpy\nndarray\n", "K\0\x85"s, text("b")}) + "R" +
                            tuple({"K\1", number(1 << 20) + "\x85", "h\2", "\x89", "h\1"}) + "b";
  const std::string bytes = "B\0\0\x10\0"s + std::string(1 << 20, 'x') + "q\1";
  const auto file = torch_file("](" + type + bytes + times(2000, array) + "e");
  EXPECT_EQ(outcome(file), "opened");
  const Checkpoint checkpoint = load_checkpoint(file);
  ASSERT_EQ(checkpoint.tensors().size(), 2000U);
  EXPECT_EQ(checkpoint.tensors()[0].tensor.storage(), checkpoint.tensors()[1999].tensor.storage());
}

TEST(HostileFiles, ScalesShareTheirList) {
  const std::string pieces = "ctorch._utils\n_rebuild_qtensor\nq\1" + storage("QInt8Storage", 16) + "q\2](" +
                             times(50'000, "K\1") + "eq\3ctorch\nper_channel_affine\nq\4" + kNoHooks +
                             "q\5(K\0"s + number(50'000) + "tq\6(K\1K\1tq\7";
  const std::string tensor = "h\1(h\2K\0h\6h\7(h\4h\3h\3K\1t\x89h\5tR"s;
  EXPECT_EQ(outcome(torch_file("](" + pieces + "0000000](" + times(2000, tensor) + "ee")), "opened");
}

TEST(HostileFiles, TensorsOfAFewBytes) {
  const std::string args = kRebuild + "q\1" + tensor_args(storage("FloatStorage", 4), {1}, {1}) + "q\2";
  EXPECT_EQ(outcome(torch_file("](" + args + times(100'000, "h\1h\2R") + "e")), "limit");
  const std::string unknown = kRebuild + "q\1" + tensor_args(storage("NoStorage", 4), {1}, {1}) + "q\2";
  EXPECT_EQ(outcome(torch_file("](" + unknown + times(100'000, "h\1h\2R") + "e")), "limit");
  const std::string id = storage("FloatStorage", 4);
  EXPECT_EQ(outcome(torch_file("](" + id.substr(0, id.size() - 1) + "q\1" + times(300'000, "h\1Q") + "e")),
            "limit");
  // Calls of anything else are no tensors, and cost little.
  EXPECT_EQ(outcome(torch_file("](ccollections\nOrderedDict\nq\1)q\2" + times(200'000, "h\1h\2R") + "e")),
            "opened");
}

TEST(HostileFiles, ShapesOfThousandsOfDimensions) {
  const std::string args =
      kRebuild + "q\1" + storage("FloatStorage", 4) + "q\2(" + times(4096, "K\1") + "tq\3" + kNoHooks + "q\4";
  EXPECT_EQ(outcome(torch_file("](" + args + times(10'000, "h\1(h\2K\0h\3h\3\x89h\4tR"s) + "e")), "limit");
}

TEST(HostileFiles, ManyPlainValuesBelowLongNames) {
  // 64 levels of long keys, with thousands of plain values in the innermost: no value needs a name.
  std::string pickle = "](" + times(100'000, "N") + "eq\1";
  for (int i = 0; i < 64; ++i) pickle = "}" + text(std::string(2000, 'k')) + pickle + "s";
  EXPECT_EQ(outcome(torch_file("](" + pickle + times(500, "h\1") + "e")), "limit");
  EXPECT_EQ(outcome(torch_file(pickle)), "opened");
}

TEST(HostileFiles, EveryPathToASharedList) {
  std::string pickle = kRebuild + tensor_args(storage("FloatStorage", 4), {1}, {1}) + "Rq\0"s;
  for (char i = 0; i < 40; ++i) pickle += "](h"s + i + "h" + i + "eq" + static_cast<char>(i + 1);
  EXPECT_EQ(outcome(torch_file("(" + pickle + "t")), "limit");
}

TEST(HostileFiles, InflatedPickles) {
  const std::string lists = "\x80\x02](" + std::string(30 << 20, ']') + "e.";
  const auto file = zip_file({{"data.pkl", lists}, {"data/0", "1234"}, {"version", "3\n"}}, "data.pkl");
  EXPECT_LT(file->size(), 100'000U);
  EXPECT_EQ(outcome(file), "limit");
  EXPECT_EQ(
      error_of([&] { load_checkpoint(file); }),
      fmt::format("limit: inflates to 31457286 bytes, which is too much for a file of {}", file->size()));
  // Small enough to be inflated, but not to describe sixteen times as much.
  const std::string fewer = "\x80\x02](" + std::string(10 << 20, ']') + "e.";
  EXPECT_EQ(outcome(zip_file({{"data.pkl", fewer}, {"data/0", "1234"}, {"version", "3\n"}}, "data.pkl")),
            "limit");
}

TEST(HostileFiles, ARecordThatInflatesToMuchIsNotReadToBeChecked) {
  const auto file = zip_file({{"data.pkl", "\x80\x02}."}, {"data/0", std::string(30 << 20, '\0')}}, "data/0");
  HeapMeter::reset();
  const SafetyReport report = check_file(file);
  EXPECT_LT(HeapMeter::peak(), 1U << 20);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].severity, Severity::kCaution);
  EXPECT_EQ(report.findings[0].record, "archive/data/0");
  EXPECT_TRUE(report.findings[0].message.starts_with("inflates from ")) << report.findings[0].message;
  EXPECT_EQ(report.records_verified, 1U);
}

TEST(HostileFiles, APickleWithATailIsStillFound) {
  const auto file = zip_file({{"data/weights",
                               "\x80\x02"
                               "cos\nsystem\n(U\2idtR.and more"}});
  const SafetyReport report = check_file(file);
  ASSERT_EQ(report.findings.size(), 2U);  // and that it is an archive of no known kind
  EXPECT_EQ(report.findings[0].message, "unpickling would import and call os.system, which can run anything");
}

TEST(HostileFiles, HeadersOfSafetensors) {
  const auto file = [](const std::string& header) {
    ByteWriter writer;
    writer.le(static_cast<uint64_t>(header.size()));
    writer.text(header);
    return Mapping::from_text(writer.str());
  };
  std::string many = "{";
  for (int i = 0; i < 60'000; ++i) {
    many += fmt::format("\"{}\":{{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}},", i);
  }
  many.back() = '}';
  EXPECT_EQ(outcome(file(many)), "opened");
  const std::string ends = "\"data_offsets\":[0,0]}}";
  EXPECT_EQ(outcome(file("{\"a\":{\"dtype\":\"U8\",\"shape\":[0" + times(500'000, ",1") + "]," + ends)),
            "corrupt");
  EXPECT_EQ(
      outcome(file("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"x\":[0" + times(500'000, ",[]") + "]," + ends)),
      "opened");
  EXPECT_EQ(outcome(file("{\"a\":" + std::string(1'000'000, '['))), "limit");
}

// JSON costs many times its text, and a text in an archive a thousand times its bytes there.
TEST(HostileFiles, InflatedJson) {
  const auto file = [](const std::string& text) {
    const std::string record = "models/model.json";
    return zip_file({{"archive_format", "pt2"}, {"archive_version", "0"}, {record, text}}, record);
  };
  EXPECT_EQ(outcome(file("[" + times(10'000'000, "[],") + "[]]")), "limit");  // inflates to too much
  const std::string program = "{\"graph_module\": {\"graph\": {\"nodes\": ";
  for (const std::string& item : {"[],"s, "{},"s, "0,"s, "\"\","s, "{\"a\":0},"s, "\"0123456789abcdef\","s}) {
    // Long strings cost the least.
    const std::string values =
        "[" + times((item.size() > 16 ? 3'000'000 : 1'000'000) / item.size(), item) + "0]";
    EXPECT_EQ(outcome(file(values)), "limit") << item;
    EXPECT_EQ(outcome(file(program + values + "}}}")), "limit") << item;
    EXPECT_EQ(outcome(file(program + "[NaN], \"x\": " + values + "}}}")), "limit") << item;
  }
  std::string keys = "{\"0\":0";
  for (int i = 1; i < 300'000; ++i) keys += fmt::format(",\"{}\":0", i);
  EXPECT_EQ(outcome(file(keys + "}")), "limit");
  // Strings that are texts again, such as descriptions of inputs.
  const std::string spec = "[1, [" + times(1'000'000, "[],") + "[]]]";
  EXPECT_EQ(outcome(file("{\"in_spec\": \"" + spec + "\"}")), "limit");
  // Marks of the archive.
  EXPECT_EQ(
      outcome(zip_file({{"data.pkl", "\x80\x02}."}, {"byteorder", times(5'000'000, "little")}}, "byteorder")),
      "limit");
}

// What is said of a compiled model, and modules of the earliest TorchScript.
TEST(HostileFiles, InflatedDescriptionsOfModels) {
  const auto package = [](const std::string& name, const std::string& text) {
    const std::string record = "data/aotinductor/model/x" + name;
    return zip_file({{"archive_format", "pt2"}, {"archive_version", "0"}, {record, text}}, record);
  };
  std::string keys = "{\"0\":\"\"", weights;
  for (int i = 1; i < 300'000; ++i) keys += fmt::format(",\"{}\":\"\"", i);
  for (int i = 0; i < 300'000; ++i) weights += fmt::format("constants_info_[{}].name = \"\";\n", i);
  for (const auto& file : {package("_metadata.json", "{\"a\":[" + times(7'000'000, "[],") + "[]]}"),
                           package("_metadata.json", keys + "}"), package(".wrapper.cpp", weights),
                           package(".wrapper.cpp", "in_spec_ = R\"(" + times(20'000'000, "x") + ")\"")}) {
    HeapMeter::reset();
    error_of([&] { inspect_file(file); });
    check_file(file);
    EXPECT_LE(HeapMeter::peak(), (64ULL << 20) + 16 * file->size()) << "for a file of " << file->size();
  }
  EXPECT_EQ(outcome(zip_file(
                {{"version", "1"}, {"model.json", "{\"tensors\":[" + times(7'000'000, "[],") + "[]]}"}},
                "model.json")),
            "limit");
}

TEST(HostileFiles, OverlappingViewsInTheOldForm) {
  const int64_t count = 1 << 16;
  std::string views;
  for (int i = 0; i < 1000; ++i) {
    const std::string view = tuple({text("v" + std::to_string(i)), "K\0"s, number(count)});
    views += text("x" + std::to_string(i)) + kRebuild +
             tensor_args(storage("FloatStorage", count, view), {count}, {1}) + "R";
  }
  ByteWriter writer;
  writer.text(
      "\x80\x02\x8a\nl\xfc\x9c"
      "F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}.");
  writer.text("\x80\x02}(" + views + "u.\x80\x02]" + text("0") + "a.");
  writer.le(count);
  writer.fill(static_cast<size_t>(count) * 4, '\0');
  EXPECT_EQ(outcome(Mapping::from_text(writer.str())), "limit");
}

TEST(HostileFiles, TwoMembersOfOneName) {
  std::string header = "pickle" + std::string(118, '\0') + "00000000003" + std::string(13, '\0');
  header += "        " + std::string(356, '\0');
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  header.replace(148, 7, fmt::format("{:06o}", sum) + "\0"s);
  const std::string member = header + "abc" + std::string(509, '\0');
  EXPECT_EQ(outcome(Mapping::from_text(member + member)), "corrupt");
  EXPECT_EQ(error_of([&] { list_records(Mapping::from_text(member + member)); }),
            "corrupt: a tar archive has two members 'pickle'");
  EXPECT_EQ(list_records(Mapping::from_text(member)).size(), 1U);
}

TEST(HostileFiles, ThousandsOfNames) {
  std::string names;
  for (int i = 0; i < 30'000; ++i) names += fmt::format("cx\nn{}\n", i);
  const auto file = torch_file("](" + names + "e");
  EXPECT_EQ(outcome(file), "opened");
  EXPECT_EQ(check_file(file).findings.size(), 1002U);  // and a storage that nothing refers to
  const Inspection inspection = inspect_file(file);
  EXPECT_EQ(inspection.globals.size(), 10'001U);
  EXPECT_EQ(inspection.notes.back(), "the pickles mention more than 10000 names, the others are not shown");
}

TEST(HostileFiles, ThousandsOfRecords) {
  MemorySink sink;
  zip::Writer writer(sink, {});
  for (int i = 0; i < 20'000; ++i) writer.add_text(fmt::format("{}.so", i), "");
  writer.finish();
  EXPECT_EQ(outcome(Mapping::from_buffer(sink.take())), "unsupported");
}

TEST(HostileFiles, ThousandsOfFindings) {
  MemorySink sink;
  zip::Writer writer(sink, {});
  for (int i = 0; i < 20'000; ++i) writer.add_text(fmt::format("{}.txt", i), "a");
  writer.finish();
  const SafetyReport report = check_file(Mapping::from_buffer(sink.take()));
  EXPECT_EQ(report.findings.size(), 2001U);
  EXPECT_EQ(report.findings.back().message, "18001 more findings are not listed");
}

TEST(HostileFiles, ArchivesInsideOfArchives) {
  auto file = zip_file({{"data.pkl", "\x80\x02}."}, {"data/0", std::string(1 << 20, '\1')}});
  for (int i = 0; i < 8; ++i) file = zip_file({{"inner", std::string(as_text(file->bytes()))}});
  HeapMeter::reset();
  const SafetyReport report = check_file(file);
  EXPECT_LT(HeapMeter::peak(), 1U << 20);
  ASSERT_EQ(report.findings.size(), 5U);  // and what each of the archives is
  EXPECT_EQ(report.findings[0].message, "archives nested more than 3 deep");
}

}  // namespace
}  // namespace flambeau::hostile
