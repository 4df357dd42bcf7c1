#include "flambeau/formats/format.h"

#include <gtest/gtest.h>

#include <set>

#include "flambeau/formats/convert.h"
#include "support/torch_files.h"

namespace flambeau {
namespace {

TEST(Formats, EveryEntryIsWhole) {
  std::set<std::string_view> names;
  std::set<std::string_view> endings;
  for (const Format* format : all_formats()) {
    EXPECT_TRUE(names.insert(format->name).second) << format->name;
    EXPECT_FALSE(format->description.empty()) << format->name;
    const bool is_unknown = format == &kUnknownFormat;
    EXPECT_EQ((format->fits != nullptr) + (format->fits_archive != nullptr), is_unknown ? 0 : 1)
        << format->name;
    // What is opened is checked. Without a check a file is one of no known kind, and never harmless.
    if (format->has_weights() || format->has_programs()) {
      EXPECT_NE(format->check, nullptr) << format->name;
    }
    if (format->can_write()) {
      EXPECT_TRUE(format->has_weights()) << format->name;
    }
    for (const std::string_view ending : format->writer.endings) {
      EXPECT_TRUE(ending.empty() || endings.insert(ending).second) << ending;
    }
  }
  EXPECT_EQ(names.size(), all_formats().size());
}

TEST(Formats, KindsAreTheirPlacesInTheList) {
  for (size_t i = 0; i < all_formats().size(); ++i) {
    EXPECT_EQ(&format_of(static_cast<FileKind>(i)), all_formats()[i]);
  }
  EXPECT_EQ(&format_of(FileKind::kSafetensors), &kSafetensorsFormat);
  EXPECT_EQ(file_kind_info(FileKind::kGguf).name, "gguf");
  EXPECT_TRUE(file_kind_info(FileKind::kGguf).has_weights);
  EXPECT_FALSE(file_kind_info(FileKind::kGguf).can_write);
}

TEST(Formats, WhatIsOnlyReadIsNotWritten) {
  MemorySink sink;
  EXPECT_EQ(
      testing::error_text([&] { write_checkpoint(sink, Checkpoint::from_tensors({}), FileKind::kGguf); }),
      "invalid_argument: a GGUF file cannot be written (write a .pt, .safetensors or .npz file)");
}

}  // namespace
}  // namespace flambeau
