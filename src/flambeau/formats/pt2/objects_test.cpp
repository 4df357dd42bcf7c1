#include "flambeau/formats/pt2/objects.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"

namespace flambeau::pt2 {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using graph::ExportedProgram;

class TextHandler final : public ObjectHandler {
 public:
  std::any read(ByteSpan bytes) const override {
    if (bytes.empty()) throw Error(ErrorCode::kCorrupt, "expected text, found nothing");
    return std::string(as_text(bytes));
  }
  std::vector<uint8_t> write(const std::any& object) const override {
    const auto& text = std::any_cast<const std::string&>(object);
    return {text.begin(), text.end()};
  }
};

ExportedProgram program_with_object(std::string_view bytes) {
  ExportedProgram program;
  graph::Value& value = program.graph().add_value("obj_cache", graph::CustomObjMeta{"obj_cache", "my.Cache"});
  graph::CustomObjArgument argument;
  argument.ref = graph::ValueRef(value);
  argument.class_fqn = "my.Cache";
  graph::InputSpec spec;
  spec.kind = graph::InputKind::kCustomObj;
  spec.target = "cache";
  spec.argument = Argument::make<ArgumentKind::kCustomObj>(std::move(argument));
  program.signature.inputs.push_back(std::move(spec));
  program.objects.push_back({"cache", Storage::own({bytes.begin(), bytes.end()}), true});
  return program;
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Objects, AreReadAndWrittenByTheHandlerOfTheirClass) {
  ExportedProgram program = program_with_object("abc");
  ObjectHandlers handlers;
  handlers.add("my.Cache", std::make_shared<TextHandler>());
  EXPECT_EQ(std::any_cast<std::string>(read_object(program, "cache", handlers)), "abc");
  write_object(program, "cache", std::string("defg"), handlers);
  EXPECT_EQ(as_text(program.objects[0].bytes->bytes()), "defg");
}

TEST(Objects, SayWhatIsMissing) {
  const ExportedProgram program = program_with_object("");
  ObjectHandlers handlers;
  EXPECT_EQ(
      error_of([&] { read_object(program, "cache", handlers); }),
      "object 'cache': nothing is registered to read objects of the class 'my.Cache' (add a handler for the "
      "class; without one the object can only be kept as it is)");
  EXPECT_EQ(error_of([&] { read_object(program, "other", handlers); }),
            "object 'other': the program has no such object");
  handlers.add("my.Cache", std::make_shared<TextHandler>());
  EXPECT_EQ(error_of([&] { read_object(program, "cache", handlers); }),
            "object 'cache': expected text, found nothing");
  EXPECT_EQ(error_of([&] { handlers.add("my.Cache", nullptr); }),
            "the class 'my.Cache' has a handler already");
}

}  // namespace
}  // namespace flambeau::pt2
