#include "flambeau/formats/state_dict/persistent_ids.h"

#include <gtest/gtest.h>

#include "support/torch_files.h"

namespace flambeau {
namespace {

using pickle::Node;
using testing::error_text;

class PersistentIds : public ::testing::Test {
 protected:
  Node* id(Node* storage_class, Node* view = nullptr) {
    std::vector<Node*> parts = {tree.string("storage"), storage_class, tree.string("k"),
                                tree.string("cuda:1"), tree.integer(6)};
    if (view != nullptr) parts.push_back(view);
    return tree.tuple(parts);
  }
  pickle::Tree tree;
};

TEST_F(PersistentIds, ReadsTheParts) {
  const StorageId id1 = parse_storage_id(*id(tree.global("torch", "HalfStorage")));
  EXPECT_EQ(id1.dtype, DType::kFloat16);
  EXPECT_FALSE(id1.is_untyped);
  EXPECT_EQ(id1.key, "k");
  EXPECT_EQ(id1.device.to_string(), "cuda:1");
  EXPECT_EQ(id1.byte_count, 12U);
  EXPECT_FALSE(id1.view);
}

TEST_F(PersistentIds, KnowsEveryStorageClass) {
  for (const DTypeInfo& info : all_dtypes()) {
    if (info.storage.empty()) continue;
    for (const std::string_view module : {"torch", "torch.cuda"}) {
      const StorageId parsed = parse_storage_id(*id(tree.global(module, info.storage)));
      EXPECT_EQ(parsed.dtype, info.dtype);
      EXPECT_EQ(parsed.byte_count, 6U * info.size);
    }
  }
  for (const std::string_view name : {"UntypedStorage", "_UntypedStorage"}) {
    const StorageId parsed = parse_storage_id(*id(tree.global("torch.storage", name)));
    EXPECT_TRUE(parsed.is_untyped);
    EXPECT_EQ(parsed.byte_count, 6U);
  }
}

TEST_F(PersistentIds, ReadsViewsOfTheLegacyForm) {
  Node* view = tree.tuple({tree.string("part"), tree.integer(2), tree.integer(3)});
  const StorageId parsed = parse_storage_id(*id(tree.global("torch", "FloatStorage"), view));
  ASSERT_TRUE(parsed.view);
  EXPECT_EQ(parsed.view->key, "part");
  EXPECT_EQ(parsed.view->offset, 2);
  EXPECT_EQ(parsed.view->size, 3);
  EXPECT_FALSE(parse_storage_id(*id(tree.global("torch", "FloatStorage"), tree.none())).view);
}

TEST_F(PersistentIds, RefusesBadViews) {
  Node* type = tree.global("torch", "FloatStorage");
  const auto error = [&](Node* view) { return error_text([&] { parse_storage_id(*id(type, view)); }); };
  EXPECT_EQ(error(tree.tuple({tree.string("part")})),
            "corrupt: a view of a storage has 3 parts: key, offset, size");
  EXPECT_EQ(error(tree.tuple({tree.string("part"), tree.integer(-1), tree.integer(1)})),
            "corrupt: a view of a storage with a negative bound");
  EXPECT_EQ(error(tree.integer(1)), "corrupt: expected list, tuple, set or frozenset, found int");
}

TEST_F(PersistentIds, RefusesForeignModules) {
  EXPECT_EQ(error_text([&] { parse_storage_id(*id(tree.global("os", "FloatStorage"))); }),
            "unsupported: 'os.FloatStorage' is not a known storage class (a newer Flambeau may know it)");
}

TEST_F(PersistentIds, FindsClassesWithTheirSource) {
  Node* net = tree.global("net", "Net");
  Node* source = tree.string("class Net: ...");
  EXPECT_EQ(class_in_persistent_id(*tree.tuple({tree.string("module"), net, tree.string("net.py"), source})),
            net);
  EXPECT_EQ(class_in_persistent_id(*tree.tuple({net, tree.string("net.py"), source})), net);
  EXPECT_EQ(class_in_persistent_id(*tree.tuple({tree.string("module"), source, source, source})), nullptr);
  EXPECT_EQ(class_in_persistent_id(*id(net)), nullptr);
  EXPECT_EQ(class_in_persistent_id(*tree.string("module")), nullptr);
}

}  // namespace
}  // namespace flambeau
