// Programs that were made to cost more than they are: of a megabyte each, of one thing repeated. Everything
// that the command does to a program takes time and memory in proportion.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "flambeau/archive/zip/writer.h"
#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/files/mapping.h"
#include "hostile/exercise_program.h"
#include "hostile/heap_meter.h"
#include "support/patience.h"

namespace flambeau::hostile {
namespace {

// So that a case is about a megabyte.
constexpr size_t kRoom = 1'000'000;

std::string repeat(std::string_view item, size_t room = kRoom) {
  std::string all(item);
  while (all.size() < room) (all += ", ") += item;
  return all;
}
// The same with a number in place of each '#'.
std::string count_up(std::string_view item, size_t room = kRoom) {
  std::string all;
  for (size_t number = 0; all.size() < room; ++number) {
    if (number != 0) all += ", ";
    for (const char c : item) {
      if (c == '#') {
        all += std::to_string(number);
      } else {
        all += c;
      }
    }
  }
  return all;
}

const std::string kMeta =
    R"({"dtype": 7, "sizes": [], "requires_grad": false, "device": {"type": "cpu", "index": null}, )"
    R"("strides": [], "storage_offset": {"as_int": 0}, "layout": 7})";
const std::string kTensor = R"({"as_tensor": {"name": "x"}})";

std::string node(const std::string& inputs, const std::string& outputs = "",
                 const std::string& target = "torch.ops.aten.add.Tensor", const std::string& metadata = "",
                 const std::string& name = "null") {
  return R"({"target": ")" + target + R"(", "inputs": [)" + inputs + R"(], "outputs": [)" + outputs +
         R"(], "metadata": {)" + metadata + R"(}, "is_hop_single_tensor_return": null, "name": )" + name +
         "}";
}
std::string input(const std::string& argument, const std::string& name = "self") {
  return R"({"name": ")" + name + R"(", "arg": )" + argument + R"(, "kind": 1})";
}
std::string spec(const std::string& kind) { return R"({")" + kind + R"(": {"arg": )" + kTensor + "}}"; }

struct Parts {
  std::string inputs = kTensor;
  std::string outputs = kTensor;
  std::string nodes;
  std::string tensors = R"("x": )" + kMeta;
  std::string sym_ints;
  std::string input_specs = spec("user_input");
  std::string output_specs = spec("user_output");
  std::string calls;
  std::string ranges;
  std::string guards;

  std::string graph() const {
    return R"({"inputs": [)" + inputs + R"(], "outputs": [)" + outputs + R"(], "nodes": [)" + nodes +
           R"(], "tensor_values": {)" + tensors + R"(}, "sym_int_values": {)" + sym_ints +
           R"(}, "sym_bool_values": {}, "is_single_tensor_return": false, "custom_obj_values": {}, )"
           R"("sym_float_values": {}})";
  }
  std::string text() const {
    return R"({"graph_module": {"graph": )" + graph() + R"(, "signature": {"input_specs": [)" + input_specs +
           R"(], "output_specs": [)" + output_specs + R"(]}, "module_call_graph": [)" + calls +
           R"(], "metadata": {}, "treespec_namedtuple_fields": {}}, "opset_version": {"aten": 10}, )"
           R"("range_constraints": {)" +
           ranges + R"(}, "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"], )" +
           R"("torch_version": "2.13.0", "guards_code": [)" + guards + "]}";
  }
};

// Opens it, and does everything with it.
void expect_cheap(const Parts& parts, std::string_view name) {
  const std::string text = parts.text();
  HeapMeter::reset();
  const auto start = std::chrono::steady_clock::now();
  const std::optional<ErrorCode> refused = exercise_program_json(text);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_FALSE(refused.has_value()) << name << ": " << error_code_name(*refused);
  EXPECT_LT(seconds, 20 * patience()) << name;
  // A program is held several times here: as JSON, as a graph, as copies and as texts.
  EXPECT_LT(HeapMeter::peak(), (64U << 20) + 200 * text.size()) << name;
}

TEST(HostilePrograms, InputsOfOneName) {
  Parts parts;
  parts.inputs = repeat(kTensor, kRoom / 3);
  parts.input_specs = repeat(spec("user_input"), kRoom * 2 / 3);
  expect_cheap(parts, "inputs of one name");
  parts = Parts();
  parts.outputs = repeat(kTensor, kRoom / 3);
  parts.output_specs = repeat(spec("user_output"), kRoom * 2 / 3);
  expect_cheap(parts, "outputs of one name");
}

TEST(HostilePrograms, OneNodeOfManyArguments) {
  Parts parts;
  parts.nodes = node(repeat(input(R"({"as_int": 1})", "")));
  expect_cheap(parts, "many integers");
  parts.nodes = node(repeat(input(kTensor)));
  expect_cheap(parts, "many tensors");
  parts.nodes = node(input(R"({"as_tensors": [)" + repeat(R"({"name": "x"})") + "]}"));
  expect_cheap(parts, "one list");
  parts.nodes = node(input(R"({"as_string_to_argument": {)" + count_up(R"("#": {"as_int": 1})") + "}}"));
  expect_cheap(parts, "one dictionary");
  parts.nodes =
      node(repeat(input(R"({"as_int": 1})", ""), kRoom / 2), repeat(R"({"as_tensors": []})", kRoom / 2));
  expect_cheap(parts, "arguments and empty results");
  parts.nodes = node(repeat(input(R"({"as_int": 1})", ""), kRoom / 2), "", "torch.ops.aten.add.Tensor", "",
                     "\"" + std::string(kRoom / 2, 'n') + "\"");
  expect_cheap(parts, "arguments and a long name");
}

TEST(HostilePrograms, ManyNodes) {
  Parts parts;
  parts.nodes = repeat(node(""));
  expect_cheap(parts, "empty nodes");
  parts.nodes = repeat(node(input(kTensor), kTensor));
  expect_cheap(parts, "nodes that give one value");
  parts.nodes = repeat(node(input(R"({"as_tensor": {"name": "later"}})")));
  expect_cheap(parts, "nodes that use what nothing gives");
  parts.nodes = count_up(node(input(R"({"as_tensor": {"name": "v#"}})"), R"({"as_tensor": {"name": "v#"}})"));
  expect_cheap(parts, "nodes that use what they give");
  parts.nodes = count_up(node(input(kTensor), R"({"as_tensor": {"name": "v#"}})"));
  expect_cheap(parts, "values without a description");
  parts.nodes = repeat(node("", "", "torch.ops.aten.no_such_operator.default"));
  expect_cheap(parts, "unknown operators");
  parts.nodes = node("", "", "x", count_up(R"("k#": "v")"));
  expect_cheap(parts, "metadata");
}

TEST(HostilePrograms, ModulesInsideOfModules) {
  std::string stack;
  while (stack.size() < kRoom / 10) stack += "k,m" + std::to_string(stack.size()) + ",c;";
  Parts parts;
  parts.nodes = repeat(node("", "", "x", R"("nn_module_stack": ")" + stack + "\"") + ", " + node(""));
  expect_cheap(parts, "modules inside of modules");
}

TEST(HostilePrograms, Subgraphs) {
  Parts inner;
  inner.inputs = inner.outputs = inner.tensors = "";
  const std::string empty = R"({"as_graph": {"name": "g", "graph": )" + inner.graph() + "}}";
  Parts parts;
  parts.nodes = node(repeat(input(empty, "")), "", "torch.ops.higher_order.cond");
  expect_cheap(parts, "empty subgraphs of one node");
  parts.nodes = repeat(node(input(empty, ""), "", "torch.ops.higher_order.cond"));
  expect_cheap(parts, "nodes of an empty subgraph");
  // As deep as JSON may be, with a long list at each level.
  std::string nested;
  for (int depth = 0; depth < 60; ++depth) {
    Parts level = inner;
    level.nodes = repeat(node(""), 16'000);
    if (depth != 0) level.nodes += ", " + nested;
    nested = node(input(R"({"as_graph": {"name": "g", "graph": )" + level.graph() + "}}", ""), "",
                  "torch.ops.higher_order.cond");
  }
  parts.nodes = nested;
  expect_cheap(parts, "nested subgraphs");
}

TEST(HostilePrograms, Tables) {
  Parts parts;
  parts.tensors = count_up("\"v#\": " + kMeta);
  expect_cheap(parts, "tensors that nobody mentions");
  parts = Parts();
  parts.sym_ints = count_up(R"("v#": {"as_int": 1})");
  expect_cheap(parts, "numbers that nobody mentions");
  parts = Parts();
  parts.sym_ints =
      count_up(R"_("v#": {"as_expr": {"expr_str": "Symbol('s#', integer=True)", "hint": {"as_int": #}}})_");
  parts.ranges = count_up(R"("s#": {"min_val": 0, "max_val": null})", kRoom / 4);
  expect_cheap(parts, "symbols");
  parts = Parts();
  parts.ranges = count_up(R"("s#": {"min_val": 0, "max_val": null})");
  expect_cheap(parts, "constraints");
  parts = Parts();
  parts.guards = repeat(R"("L['x'].size()[0] == 1")");
  expect_cheap(parts, "guards");
  parts = Parts();
  parts.calls = repeat(R"({"fqn": "m", "signature": null})");
  expect_cheap(parts, "module calls");
}

TEST(HostilePrograms, OneLongDescriptionNamedOften) {
  constexpr size_t kLong = kRoom / 4;
  constexpr size_t kOften = kRoom / 60;  // the text form prints the description each time
  const auto with_size = [](const std::string& sizes) {
    Parts parts;
    parts.tensors = R"("x": {"dtype": 7, "sizes": [)" + sizes +
                    R"(], "requires_grad": false, "device": {"type": "cpu", "index": null}, "strides": [], )"
                    R"("storage_offset": {"as_int": 0}, "layout": 7})";
    return parts;
  };
  const std::string dims = repeat(R"({"as_int": 1})", kLong);
  std::string sum = "Integer(1)";
  while (sum.size() < kLong) sum += ", Symbol('s" + std::to_string(sum.size()) + "', integer=True)";
  const std::string expression = R"_({"as_expr": {"expr_str": "Add()_" + sum + R"_()", "hint": null}})_";
  for (const auto& [name, sizes] : {std::pair("dimensions", dims), std::pair("an expression", expression)}) {
    Parts parts = with_size(sizes);
    parts.outputs = repeat(kTensor, kOften);
    parts.output_specs = repeat(spec("user_output"), 2 * kOften);
    expect_cheap(parts, fmt::format("{}, given often", name));
    parts = with_size(sizes);
    parts.nodes = repeat(node(input(kTensor), kTensor), 3 * kOften);
    expect_cheap(parts, fmt::format("{}, used often", name));
    parts = with_size(sizes);
    parts.inputs = repeat(kTensor, kOften);
    parts.input_specs = repeat(spec("user_input"), 2 * kOften);
    expect_cheap(parts, fmt::format("{}, taken often", name));
  }
}

// ---- whole archives

std::string entry(const std::string& path) {
  return R"({"path_name": ")" + path + R"(", "is_param": false, "use_pickle": false, "tensor_meta": )" +
         kMeta + "}";
}

// An archive of one program whose table of weights and whose records are these.
std::shared_ptr<Mapping> archive(const std::string& table,
                                 const std::vector<std::pair<std::string, std::string>>& records) {
  MemorySink sink;
  zip::Writer writer(sink, {});
  for (const auto& [name, bytes] : records) writer.add_text(name, bytes);
  writer.add_text("data/weights/model_weights_config.json", R"({"config": {)" + table + "}}");
  writer.add_text("data/constants/model_constants_config.json", R"({"config": {}})");
  writer.add_text("models/model.json", Parts().text());
  writer.add_text("archive_format", "pt2");
  writer.add_text("archive_version", "0");
  writer.add_text("byteorder", "little");
  writer.finish();
  return Mapping::from_buffer(sink.take());
}

void expect_cheap(const std::shared_ptr<Mapping>& file, std::string_view name) {
  HeapMeter::reset();
  const auto start = std::chrono::steady_clock::now();
  const std::optional<ErrorCode> refused = exercise_package(file);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_FALSE(refused.has_value()) << name << ": " << error_code_name(*refused);
  EXPECT_LT(seconds, 20 * patience()) << name;
  EXPECT_LT(HeapMeter::peak(), (64U << 20) + 200 * file->size()) << name;
}

TEST(HostilePrograms, ManyWeights) {
  const std::string of_one = count_up("\"w#\": " + entry("weight_0"));
  expect_cheap(archive(of_one, {{"data/weights/weight_0", "1234"}}), "weights of one record");
  expect_cheap(archive(of_one, {{"data/weights/weight_0", ""}}), "weights of one empty record");
  std::vector<std::pair<std::string, std::string>> records;
  std::string table;
  for (int i = 0; i < 2500; ++i) {
    records.emplace_back(fmt::format("data/weights/weight_{}", i), i % 2 == 0 ? "" : "1234");
    table += fmt::format("{}\"w{}\": {}", i == 0 ? "" : ", ", i, entry(fmt::format("weight_{}", i)));
  }
  expect_cheap(archive(table, records), "weights of many records");
  for (auto& [name, bytes] : records) name = "later/" + name;
  expect_cheap(archive("", records), "records that nobody knows");
}

TEST(HostilePrograms, NamesThatAreTaken) {
  // Each name that the writer would give is that of a record that nobody owns.
  std::vector<std::pair<std::string, std::string>> records;
  for (int i = 0; i < 2500; ++i) records.emplace_back(fmt::format("data/weights/weight_{}", i), "1234");
  records.emplace_back("data/weights/mine", "1234");
  expect_cheap(archive(count_up("\"w#\": " + entry("mine"), 100'000), records), "names that are taken");
}

}  // namespace
}  // namespace flambeau::hostile
