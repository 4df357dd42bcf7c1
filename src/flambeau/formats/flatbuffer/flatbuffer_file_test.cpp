#include "flambeau/formats/flatbuffer/flatbuffer_file.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/formats/flatbuffer/flatbuffer_writer.h"
#include "flambeau/formats/flatbuffer/test_flat.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

using testing::FlatSample;
using testing::read_flat;

std::string refusal(const FlatSample& sample) {
  try {
    const MobileFile file = read_flat(sample.build());
    for (const std::shared_ptr<Class>& type : file.script.unit->classes()) {
      for (const std::shared_ptr<Function>& method : type->methods) method->graph();
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

#define EXPECT_REFUSAL(TEXT, ...)                                           \
  EXPECT_NE(refusal(FlatSample{__VA_ARGS__}).find(TEXT), std::string::npos) \
      << refusal(FlatSample{__VA_ARGS__})

TEST(FlatbufferFile, ReadsAModuleByItsBytecode) {
  const MobileFile file = read_flat(FlatSample().build());
  const ObjectBox& module = file.script.module.as_object();
  EXPECT_EQ(module.type->qualified_name(), "__torch__.M");
  EXPECT_EQ(module.slots.at(0).as_tensor().data<float>()[1], 2.0F);
  EXPECT_EQ(module.slots.at(1).as_dict().items.find(IValue(7))->as_int(), 7);
  EXPECT_EQ(refusal(FlatSample()), "nothing");
  EXPECT_EQ(file.program->functions.at(0).name, "__torch__.M.forward");
}

TEST(FlatbufferFile, WritesWhatItRead) {
  const MobileFile file = read_flat(FlatSample().build());
  MemorySink sink;
  write_flatbuffer(sink, file.script, file.script.module, {{"notes", "hello"}}, false, {},
                   Progress::silent());
  const std::vector<uint8_t> written = sink.take();
  const MobileFile again = read_flat(Mapping::from_buffer(written));
  EXPECT_EQ(again.script.archive->extra_files(), std::vector<std::string>{"notes"});
  EXPECT_EQ(again.script.archive->extra_file("notes"), "hello");
  EXPECT_EQ(again.script.module.as_object().slots.at(0).as_tensor().data<float>()[1], 2.0F);
  MemorySink twice;
  write_flatbuffer(twice, again.script, again.script.module, {{"notes", "hello"}}, false, {},
                   Progress::silent());
  EXPECT_EQ(twice.buffer(), written);
}

TEST(FlatbufferFile, RefusesIndicesOfNothing) {
  EXPECT_REFUSAL("the module is value 6 of 6", .state = 6);
  EXPECT_REFUSAL("the module is value 3, which is no object", .state = 3);
  EXPECT_REFUSAL("method 0 is value 60 of 6", .method = 60);
  EXPECT_REFUSAL("method 0 is value 2, which is no function", .method = 2);
  EXPECT_REFUSAL("a tensor is in storage 1 of 1", .storage = 1);
  EXPECT_REFUSAL("value 99 of 6 is referred to", .keys = {99}, .values = {3});
  EXPECT_REFUSAL("value 5 is referred to before it is there", .keys = {3}, .values = {5});
  EXPECT_REFUSAL("an object is of type 4 of 1", .object_type = 4);
  EXPECT_REFUSAL("value '4': value 4 is referred to before", .values = {4});
  EXPECT_REFUSAL("it is of type 3 of 1", .class_type = 3);
  EXPECT_REFUSAL("value 1000 of 6 is referred to", .constants = {1000});
}

TEST(FlatbufferFile, RefusesCountsThatDiffer) {
  EXPECT_REFUSAL("a dict has 1 keys and 2 values", .values = {3, 3});
  EXPECT_REFUSAL("says it has 2 storages, and has 1", .storage_count = 2);
  EXPECT_REFUSAL("says it has -1 storages, and has 1", .storage_count = -1);
  EXPECT_REFUSAL("says it has 7 values, and has 6", .mobile_values = 7);
  EXPECT_REFUSAL("has 1 attributes of 2", .attributes = {2});
  EXPECT_REFUSAL("a tensor has 2 sizes and 1 strides", .sizes = {1, 2});
}

TEST(FlatbufferFile, RefusesTensorsThatDoNotFit) {
  EXPECT_NE(refusal({.sizes = {3}}), "nothing");
  EXPECT_NE(refusal({.sizes = {-1}}), "nothing");
  EXPECT_NE(refusal({.strides = {-1}}), "nothing");
  EXPECT_NE(refusal({.offset = 1}), "nothing");
  EXPECT_NE(refusal({.sizes = {2147483647}}), "nothing");
  EXPECT_REFUSAL("77 is the number of no element type", .dtype = 77);
}

TEST(FlatbufferFile, RefusesWhatItDoesNotKnow) {
  EXPECT_REFUSAL("bytecode of version 10 in a flatbuffer; 9 is known", .version = 10);
  EXPECT_REFUSAL("a value is of kind 17, which is not known", .kind_of_number = 17);
  EXPECT_REFUSAL("is of kind 9, which is not known", .kind_of_type = 9);
  EXPECT_REFUSAL("nothing says what objects of __torch__.M hold", .kind_of_type = 4);
  EXPECT_REFUSAL("FORK is no instruction of mobile modules", .opcode = 46);
  EXPECT_REFUSAL("200 is the number of no instruction", .opcode = 200);
  EXPECT_REFUSAL("expected a type, found the end of the text", .dict_type = "Dict[");
  EXPECT_REFUSAL("is said to be of type List[int]", .dict_type = "List[int]");
}

TEST(FlatbufferFile, VerifiesFunctionsBeforeTheyRun) {
  EXPECT_NE(refusal({.argument_register = 3}), "nothing");
  EXPECT_NE(refusal({.argument_register = -1}), "nothing");
  EXPECT_NE(refusal({.opcode = 9}), "nothing");  // a jump that leads nowhere
}

#undef EXPECT_REFUSAL

}  // namespace
}  // namespace flambeau::script
