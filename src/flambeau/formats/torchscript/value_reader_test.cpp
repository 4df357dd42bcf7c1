#include "flambeau/formats/torchscript/value_reader.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/formats/torchscript/script_archive.h"
#include "flambeau/formats/torchscript/test_modules.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

using pickle::Node;
using pickle::Tree;

constexpr std::string_view kEmptyTuple = "\x80\x02).";

class ValueReaderTest : public ::testing::Test {
 protected:
  // What an archive with that data.pkl holds.
  IValue read(const Node* root, int64_t version = 3,
              std::vector<std::pair<std::string, std::string>> more = {}) {
    std::vector<std::pair<std::string, std::string>> records = {{"data.pkl", pickle::write_torch(*root)},
                                                                {"constants.pkl", std::string(kEmptyTuple)},
                                                                {"version", std::to_string(version) + "\n"}};
    records.insert(records.end(), more.begin(), more.end());
    const ScriptArchive archive(testing::make_archive(records));
    ValueReader reader(*unit_, hooks_, version, kept_);
    return archive.read_data(reader);
  }
  std::string failure(const Node* root, int64_t version = 3) {
    try {
      read(root, version);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  Node* module(std::initializer_list<pickle::Pair> state) {
    return testing::object(tree_, "__torch__.m", "M", tree_.dict(state));
  }
  Node* tagged(Node* value, std::string_view type) {
    return tree_.call(tree_.global("torch.jit._pickle", "restore_type_tag"),
                      tree_.tuple({value, tree_.string(type)}));
  }
  Node* typed_list(std::string_view builder, std::initializer_list<Node*> items) {
    return tree_.call(tree_.global("torch.jit._pickle", builder), tree_.tuple({tree_.list(items)}));
  }
  Node* text(std::string_view value) { return tree_.string(value); }
  Node* number(int64_t value) { return tree_.integer(value); }

  Tree tree_;
  std::shared_ptr<Unit> unit_ = testing::make_unit();
  LoadHooks hooks_;
  KeptStates kept_;
};

TEST_F(ValueReaderTest, FillsSlotsInTheirOrder) {
  testing::make_class(*unit_, ClassKind::kModule, "__torch__.m.M",
                      {{"a", TypeKind::kInt}, {"b", TypeKind::kString}, {"c", TypeKind::kDevice}});
  Node* device = tree_.call(tree_.global("torch", "device"), tree_.tuple({text("cuda:1")}));
  const IValue root = read(module({{text("b"), text("x")}, {text("a"), number(5)}, {text("c"), device}}));
  const ObjectBox& box = root.as_object();
  EXPECT_EQ(box.slots.at(0).as_int(), 5);
  EXPECT_EQ(box.slots.at(1).as_string(), "x");
  EXPECT_EQ(box.slots.at(2).as_device().to_string(), "cuda:1");
}

TEST_F(ValueReaderTest, KeepsTypesOfListsAndDicts) {
  testing::make_class(*unit_, ClassKind::kModule, "__torch__.m.M",
                      {{"a", TypeKind::kAny}, {"b", TypeKind::kAny}, {"c", TypeKind::kAny}});
  Node* list = typed_list("build_intlist", {number(1), number(2)});
  Node* dict = tagged(tree_.dict({{text("k"), list}}), "Dict[str, List[int]]");
  const IValue root =
      read(module({{text("a"), list}, {text("b"), dict}, {text("c"), tagged(tree_.list(), "List[Any]")}}));
  const ObjectBox& box = root.as_object();
  EXPECT_EQ(box.slots[0].as_list().element, Type(TypeKind::kInt));
  EXPECT_EQ(box.slots[1].as_dict().value, Type::list(TypeKind::kInt));
  EXPECT_EQ(box.slots[2].as_list().element, Type(TypeKind::kAny));
  // What was one object is one.
  EXPECT_EQ(box.slots[1].as_dict().items.find(IValue("k"))->identity(), box.slots[0].identity());
}

TEST_F(ValueReaderTest, TakesTypesFromAttributesBeforeVersion3) {
  testing::make_class(*unit_, ClassKind::kModule, "__torch__.m.M",
                      {{"a", Type::optional(Type::list(Type::tuple({Type::list(TypeKind::kFloat)})))}});
  Node* root = module({{text("a"), tree_.list({tree_.tuple({tree_.list({tree_.real(1.5)})})})}});
  const IValue old = read(root, 2);
  const IValue& outer = old.as_object().slots[0];
  EXPECT_EQ(outer.as_list().element, Type::tuple({Type::list(TypeKind::kFloat)}));
  EXPECT_EQ(outer.items()[0].items()[0].as_list().element, Type(TypeKind::kFloat));
}

TEST_F(ValueReaderTest, ReadsTensorsInPlace) {
  testing::make_class(*unit_, ClassKind::kModule, "__torch__.m.M",
                      {{"a", TypeKind::kTensor}, {"b", TypeKind::kTensor}, {"e", TypeKind::kTensor}});
  const auto tensor = [&](Node* storage, int64_t offset, int64_t size) {
    return tree_.call(tree_.global("torch._utils", "_rebuild_tensor_v2"),
                      tree_.tuple({storage, number(offset), tree_.tuple({number(size)}),
                                   tree_.tuple({number(1)}), tree_.boolean(true),
                                   tree_.call(tree_.global("collections", "OrderedDict"), tree_.tuple())}));
  };
  const auto storage = [&](std::string_view key, int64_t count) {
    return tree_.persistent(tree_.tuple(
        {text("storage"), tree_.global("torch", "ByteStorage"), text(key), text("cpu"), number(count)}));
  };
  Node* shared = storage("0", 4);
  const IValue root = read(module({{text("a"), tensor(shared, 0, 4)},
                                   {text("b"), tensor(shared, 2, 2)},
                                   {text("e"), tensor(storage("1", 0), 0, 0)}}),
                           3, {{"data/0", "abcd"}});
  const ObjectBox& box = root.as_object();
  EXPECT_EQ(box.slots[0].as_tensor().storage(), box.slots[1].as_tensor().storage());
  EXPECT_EQ(as_text(box.slots[1].as_tensor().contiguous_bytes()), "cd");
  EXPECT_TRUE(box.slots[0].as_tensor().requires_grad());
  EXPECT_EQ(box.slots[2].as_tensor().element_count(), 0);
}

TEST_F(ValueReaderTest, FindsEnumeratorsByValue) {
  testing::make_class(*unit_, ClassKind::kModule, "__torch__.m.M", {{"color", TypeKind::kAny}});
  auto color = testing::make_class(*unit_, ClassKind::kEnum, "__torch__.m.Color", {});
  color->enumerators = {{"RED", IValue(1)}, {"GREEN", IValue(2)}};
  const auto with_value = [&](Node* value) {
    return module({{text("color"), tree_.call(tree_.global("__torch__.m", "Color"), value)}});
  };
  EXPECT_EQ(read(with_value(number(2))).as_object().slots[0].as_enum().name, "GREEN");
  EXPECT_NE(failure(with_value(number(3))).find("__torch__.m.Color has no member of that value"),
            std::string::npos);
  EXPECT_NE(failure(with_value(tree_.real(1))).find("no member"), std::string::npos);
}

TEST_F(ValueReaderTest, GivesNativeObjectsToTheHook) {
  testing::make_class(*unit_, ClassKind::kModule, "__torch__.m.M", {{"packed", TypeKind::kAny}});
  Node* packed = testing::object(tree_, "__torch__.torch.classes.quantized", "LinearPackedParamsBase",
                                 tree_.tuple({number(7)}));
  Node* root = module({{text("packed"), packed}});
  const IValue kept = read(root);
  const ObjectBox& opaque = kept.as_object().slots[0].as_object();
  EXPECT_EQ(opaque.type->qualified_name(), "__torch__.torch.classes.quantized.LinearPackedParamsBase");
  EXPECT_EQ(opaque.slots.at(0).items().at(0).as_int(), 7);

  hooks_.make_native = [](std::string_view name, const IValue& state) {
    return IValue::native(Object{std::string(name), std::make_shared<int64_t>(state.items()[0].as_int())});
  };
  EXPECT_EQ(read(root).as_object().slots[0].as_native().object.class_name,
            "__torch__.torch.classes.quantized.LinearPackedParamsBase");
}

TEST_F(ValueReaderTest, NamesTheAttributeThatIsWrong) {
  testing::make_class(*unit_, ClassKind::kModule, "__torch__.m.M", {{"a", TypeKind::kAny}});
  EXPECT_NE(failure(module({})).find("the state of __torch__.m.M has no attribute 'a'"), std::string::npos);
  const auto holding = [&](Node* value) { return module({{text("a"), value}}); };
  EXPECT_NE(failure(holding(testing::object(tree_, "__torch__.x", "Y", tree_.dict())))
                .find("attribute 'a': the class __torch__.x.Y is not in the archive's code"),
            std::string::npos);
  EXPECT_NE(failure(holding(tree_.call(tree_.global("os", "system"), tree_.tuple({text("ls")}))))
                .find("'os.system' is nothing that TorchScript's archives hold"),
            std::string::npos);
  EXPECT_NE(failure(holding(typed_list("build_intlist", {text("x")}))).find("in a list of int"),
            std::string::npos);
  EXPECT_NE(failure(holding(tagged(tree_.list(), "Dict[str, int]"))).find("is said to be of type"),
            std::string::npos);
  EXPECT_NE(failure(tree_.tuple()).find("a module is expected"), std::string::npos);
}

TEST_F(ValueReaderTest, RefusesDeepNesting) {
  testing::make_class(*unit_, ClassKind::kModule, "__torch__.m.M", {{"a", TypeKind::kAny}});
  Node* value = tree_.none();
  for (int i = 0; i < 5000; ++i) value = tree_.tuple({value, tree_.integer(i)});
  EXPECT_NE(failure(module({{text("a"), value}})).find("nested more than"), std::string::npos);
}

TEST_F(ValueReaderTest, KnowsTheVersionsOfArchives) {
  testing::make_class(*unit_, ClassKind::kModule, "__torch__.m.M", {});
  EXPECT_EQ(failure(module({}), 10), "no error");
  EXPECT_NE(failure(module({}), 11).find("version 11; those up to 10 are known"), std::string::npos);
  EXPECT_NE(failure(module({}), 0).find("0 is no version"), std::string::npos);
}

}  // namespace
}  // namespace flambeau::script
