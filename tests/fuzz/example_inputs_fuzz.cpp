// Any bytes are the example inputs of a program or an Error, whatever nesting the program says they have. The
// first line is that nesting, the rest the file.
#include <stdexcept>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/example_inputs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return 0;
  try {
    const flambeau::TreeSpec spec = flambeau::parse_treespec(text.substr(0, end));
    const auto values = flambeau::pt2::read_example_inputs({data + end + 1, size - end - 1}, spec);
    if (values.size() != spec.num_leaves()) throw std::logic_error("not one value for each leaf");
    for (const flambeau::Value& value : values) {
      if (value.is_tensor() && value.tensor().element_count() < 1000) value.tensor().to_contiguous();
      static_cast<void>(value.summary());
    }
  } catch (const flambeau::Error& error) {
    if (error.code() == flambeau::ErrorCode::kInternal) throw std::logic_error(error.what());
  }
  return 0;
}
