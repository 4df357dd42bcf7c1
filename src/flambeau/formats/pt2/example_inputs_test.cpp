#include "flambeau/formats/pt2/example_inputs.h"

#include <cmath>

#include "flambeau/archive/pickle/writer.h"
#include "flambeau/formats/pt2/package_test_files.h"

namespace flambeau::pt2 {
namespace {

std::vector<Value> golden(std::string_view name) {
  Package package = load_package(golden_path(name));
  return read_example_inputs(package.models.at(0).program);
}

std::vector<float> floats(const Value& value) {
  const Tensor tensor = value.tensor().to_contiguous();
  EXPECT_EQ(tensor.dtype(), DType::kFloat32);
  return {tensor.data<float>(), tensor.data<float>() + tensor.element_count()};
}

TEST(ExampleInputs, ContainersAreFlattenedInTheOrderOfTheSpec) {
  const std::vector<Value> inputs = golden("values.nested_inputs");
  ASSERT_EQ(inputs.size(), 8U);
  EXPECT_EQ(floats(inputs[0]), (std::vector<float>{1.54099607F, -0.29342890F}));   // table['x']
  EXPECT_EQ(floats(inputs[1]), (std::vector<float>{-2.17878938F, 0.56843126F}));   // table['inner']['y']
  EXPECT_EQ(floats(inputs[2]), (std::vector<float>{0}));                           // table['unused']
  EXPECT_EQ(floats(inputs[3]), (std::vector<float>{-1.08452237F, -1.39859545F}));  // pair.left
  EXPECT_EQ(floats(inputs[4]), (std::vector<float>{0.40334684F, 0.83802634F}));    // pair.right
  EXPECT_EQ(floats(inputs[7]), (std::vector<float>{1, 1, 1}));                     // items[1][1][0]
}

TEST(ExampleInputs, NumbersKeepTheirBits) {
  const std::vector<Value> inputs = golden("values.special_floats");
  ASSERT_EQ(inputs.size(), 6U);
  EXPECT_EQ(inputs[1].get<double>(), INFINITY);
  EXPECT_EQ(inputs[2].get<double>(), -INFINITY);
  EXPECT_TRUE(std::isnan(inputs[3].get<double>()));
  EXPECT_EQ(inputs[4].get<double>(), 5e-324);
  EXPECT_TRUE(std::signbit(inputs[5].get<double>()));
}

TEST(ExampleInputs, OfTheOlderLayout) {
  const std::vector<Value> inputs = golden("weights.tied.old");
  ASSERT_EQ(inputs.size(), 1U);
  ASSERT_EQ(inputs[0].tensor().summary(), "int64[2]");
  EXPECT_EQ(inputs[0].tensor().data<int64_t>()[1], 3);
}

TEST(ExampleInputs, ComeBackAsTheyWereWritten) {
  Tensor tensor = Tensor::zeros(DType::kFloat32, Dims{2, 3});
  for (int i = 0; i < 6; ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i);
  const Tensor turned = tensor.with_geometry({Dims{3, 2}, Dims{1, 3}, 0});
  const TreeSpec spec = parse_treespec(
      R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [
          {"type": "builtins.tuple", "context": "null", "children_spec": [
            {"type": null, "context": null, "children_spec": []},
            {"type": "builtins.list", "context": "null", "children_spec": [
              {"type": null, "context": null, "children_spec": []},
              {"type": null, "context": null, "children_spec": []}]}]},
          {"type": "builtins.dict", "context": "[\"k\", \"n\"]", "children_spec": [
            {"type": null, "context": null, "children_spec": []},
            {"type": null, "context": null, "children_spec": []}]}]}])");
  const Value leaves[] = {tensor, turned, 2.5, "text", Value()};
  const std::shared_ptr<Storage> bytes = write_example_inputs(spec, leaves);
  const std::vector<Value> read = read_example_inputs(bytes->bytes(), spec);
  ASSERT_EQ(read.size(), 5U);
  EXPECT_EQ(floats(read[0]), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(floats(read[1]), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(read[1].tensor().strides(), (Dims{1, 3}));
  EXPECT_EQ(read[2].get<double>(), 2.5);
  EXPECT_EQ(read[3].get<std::string>(), "text");
  EXPECT_TRUE(read[4].is_none());
}

TEST(ExampleInputs, AreCopies) {
  Package package = load_package(golden_path("shapes.derived"));
  const std::vector<Value> first = read_example_inputs(package.models[0].program);
  *first[0].tensor().mutable_data<float>() = 17;
  EXPECT_EQ(floats(read_example_inputs(package.models[0].program)[0])[0], 1.54099607F);
}

TEST(ExampleInputs, EveryGoldenFileHasAsManyAsItsSpec) {
  for (const std::string& name : golden_names()) {
    Package package = load_package(golden_path(name));
    const graph::ExportedProgram& program = package.models[0].program;
    if (!has_example_inputs(program) || name == "weights.fake") continue;
    for (const graph::ModuleCallEntry& entry : program.module_call_graph) {
      if (!entry.fqn.empty() || !entry.signature) continue;
      EXPECT_EQ(read_example_inputs(program).size(), parse_treespec(entry.signature->in_spec).num_leaves())
          << name;
    }
  }
}

TEST(ExampleInputs, ThoseOfGoldenFilesThatCannotBeRead) {
  EXPECT_EQ(error_text([] { golden("values.without_example_inputs"); }),
            "not_found: the program has no example inputs (give the inputs yourself)");
  EXPECT_EQ(
      error_text([] { golden("weights.fake"); }),
      "unsupported: example input 'args[0]': the example input is an object made by "
      "torch._export.serde.serialize._reconstruct_fake_tensor, which only Python can make (give the inputs "
      "yourself)");
}

// What torch.save of a tree is, with one storage.
std::vector<uint8_t> torch_save(const pickle::Node& root) {
  MemorySink sink;
  zip::Writer writer(sink, {.top_folder = "archive"});
  writer.add_text("data.pkl", pickle::write_python(root));
  writer.add_text("data/0", "12345678");
  writer.add_text("version", "3\n");
  writer.finish();
  return sink.take();
}

const TreeSpec kLeaf;

TreeSpec call_spec(std::vector<TreeSpec> args, TreeSpec kwargs = TreeSpec::dict({}, {})) {
  return TreeSpec::tuple({TreeSpec::tuple(std::move(args)), std::move(kwargs)});
}

class MadeInputs : public ::testing::Test {
 protected:
  // Reads (args, kwargs) against a spec.
  std::vector<Value> read(const TreeSpec& spec, std::initializer_list<pickle::Node*> args,
                          pickle::Node* kwargs = nullptr) {
    const std::vector<uint8_t> bytes =
        torch_save(*tree.tuple({tree.tuple(args), kwargs != nullptr ? kwargs : tree.dict()}));
    return read_example_inputs(bytes, spec);
  }
  std::string error(const TreeSpec& spec, std::initializer_list<pickle::Node*> args,
                    pickle::Node* kwargs = nullptr) {
    return error_text([&] { read(spec, args, kwargs); });
  }

  pickle::Tree tree;
};

TEST_F(MadeInputs, PlainValues) {
  pickle::Node* const complex =
      tree.call(tree.global("builtins", "complex"), tree.tuple({tree.real(1), tree.integer(2)}));
  const std::vector<Value> values = read(call_spec({kLeaf, kLeaf, kLeaf, kLeaf, kLeaf, kLeaf, kLeaf}),
                                         {tree.none(), tree.boolean(true), tree.integer(-7), tree.real(0.5),
                                          tree.string("größe"), complex, tree.global("torch", "bfloat16")});
  EXPECT_TRUE(values[0].is_none());
  EXPECT_TRUE(values[1].get<bool>());
  EXPECT_EQ(values[2].get<int64_t>(), -7);
  EXPECT_EQ(values[3].get<double>(), 0.5);
  EXPECT_EQ(values[4].get<std::string>(), "größe");
  EXPECT_EQ(values[5].get<std::complex<double>>(), std::complex<double>(1, 2));
  EXPECT_EQ(values[6].get<DType>(), DType::kBFloat16);
}

TEST_F(MadeInputs, DictsAreMatchedByKey) {
  const TreeSpec spec = call_spec(
      {}, TreeSpec::dict({json::Value("a"), json::Value("b"), json::Value(1)}, {kLeaf, kLeaf, kLeaf}));
  // In another order, with a key that is set twice.
  const std::vector<Value> values = read(spec, {},
                                         tree.dict({{tree.integer(1), tree.integer(30)},
                                                    {tree.string("b"), tree.integer(0)},
                                                    {tree.string("a"), tree.integer(10)},
                                                    {tree.string("b"), tree.integer(20)}}));
  EXPECT_EQ(values[0].get<int64_t>(), 10);
  EXPECT_EQ(values[1].get<int64_t>(), 20);
  EXPECT_EQ(values[2].get<int64_t>(), 30);
  EXPECT_EQ(error(spec, {}, tree.dict({{tree.string("a"), tree.integer(1)}})),
            "corrupt: example input 'kwargs['a']': the example inputs have no key 'b'");
}

TEST_F(MadeInputs, ContainersOfPythonsLibrary) {
  pickle::Node* const ordered = tree.call(tree.global("collections", "OrderedDict"), tree.tuple());
  tree.set_item(ordered, tree.string("k"), tree.integer(1));
  pickle::Node* const deque =
      tree.call(tree.global("collections", "deque"), tree.tuple({tree.tuple(), tree.integer(4)}));
  tree.append(deque, tree.integer(2));
  tree.append(deque, tree.integer(3));
  pickle::Node* const named =
      tree.call(tree.global("somewhere", "Pair"),
                tree.tuple({tree.integer(4), tree.tuple({tree.integer(5)})}), pickle::CallKind::kNewObject);
  pickle::Node* const fixed = tree.call(tree.global("torch.fx.immutable_collections", "immutable_list"),
                                        tree.tuple({tree.tuple({tree.integer(6)})}));
  pickle::Node* const data =
      tree.call(tree.global("somewhere", "Batch"), tree.tuple(), pickle::CallKind::kNewObject);
  tree.set_state(data,
                 tree.dict({{tree.string("mask"), tree.integer(8)}, {tree.string("x"), tree.integer(7)}}));
  const TreeSpec spec = call_spec(
      {TreeSpec::ordered_dict({json::Value("k")}, {kLeaf}), TreeSpec::deque(4, {kLeaf, kLeaf}),
       TreeSpec::named_tuple("somewhere.Pair", {kLeaf, TreeSpec::tuple({kLeaf})}),
       TreeSpec::other("torch.fx.immutable_collections.immutable_list", json::Value("null"), {kLeaf}),
       TreeSpec::dataclass("somewhere.Batch", {"x", "mask"}, {}, {kLeaf, kLeaf})});
  const std::vector<Value> values = read(spec, {ordered, deque, named, fixed, data});
  ASSERT_EQ(values.size(), 8U);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i].get<int64_t>(), static_cast<int64_t>(i + 1));
}

TEST_F(MadeInputs, WhatDoesNotFitTheSpec) {
  const TreeSpec two = call_spec({kLeaf, TreeSpec::list({kLeaf, kLeaf})});
  EXPECT_EQ(error(two, {tree.integer(1)}),
            "corrupt: example input 'args[0]': the example inputs have a container of 1, where the program's "
            "in_spec "
            "has one of 2");
  EXPECT_EQ(
      error(two, {tree.integer(1), tree.integer(2)}),
      "corrupt: example input 'args[1][0]': the example inputs have an int, where the program's in_spec has "
      "builtins.list");
  EXPECT_EQ(error(call_spec({kLeaf}), {tree.list()}),
            "unsupported: example input 'args[0]': the example input is a list, which is no input of a "
            "program (give "
            "the inputs yourself)");
}

TEST_F(MadeInputs, NothingIsCalled) {
  pickle::Node* const evil = tree.call(tree.global("posix", "system"), tree.tuple({tree.string("true")}));
  EXPECT_EQ(
      error(call_spec({kLeaf}), {evil}),
      "unsupported: example input 'args[0]': the example input is an object made by posix.system, which only "
      "Python can make (give the inputs yourself)");
  EXPECT_EQ(error(call_spec({TreeSpec::dataclass("x.Y", {"a"}, {}, {kLeaf})}), {evil}),
            "unsupported: example input 'args[0].a': the example inputs have an object made by posix.system, "
            "and how "
            "it is taken apart is known to Python alone (give the inputs yourself)");
}

TEST_F(MadeInputs, ATensorThatReachesBeyondItsStorageIsRefused) {
  pickle::Node* const storage =
      tree.persistent(tree.tuple({tree.string("storage"), tree.global("torch", "FloatStorage"),
                                  tree.string("0"), tree.string("cpu"), tree.integer(2)}));
  pickle::Node* const tensor = tree.call(
      tree.global("torch._utils", "_rebuild_tensor_v2"),
      tree.tuple({storage, tree.integer(0), tree.tuple({tree.integer(3)}), tree.tuple({tree.integer(1)}),
                  tree.boolean(false), tree.call(tree.global("collections", "OrderedDict"), tree.tuple())}));
  EXPECT_EQ(error(call_spec({kLeaf}), {tensor}),
            "corrupt: example input 'args[0]': a float32 tensor of sizes [3], strides [1] and offset 0 needs "
            "12 bytes, its "
            "storage has 8");
}

TEST_F(MadeInputs, APickleThatHoldsItself) {
  pickle::Node* const list = tree.list();
  tree.append(list, list);
  // As deep as the spec, and no deeper.
  EXPECT_EQ(error(call_spec({TreeSpec::list({TreeSpec::list({kLeaf})})}), {list}),
            "unsupported: example input 'args[0][0][0]': the example input is a list, which is no input of a "
            "program "
            "(give the inputs yourself)");
}

TEST(ExampleInputs, BytesThatAreNoFile) {
  EXPECT_EQ(error_text([] { read_example_inputs(as_bytes("cos\nsystem\n(S'true'\ntR."), call_spec({})); }),
            "corrupt: record 'example inputs': the example inputs are a bare Python pickle, not what "
            "torch.save writes");
}

}  // namespace
}  // namespace flambeau::pt2
