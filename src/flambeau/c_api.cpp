// The C API: handles around tensors and programs, exceptions turned into a status and a text.
#include "flambeau/c_api.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "flambeau/aot.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/c_api_parts.h"
#include "flambeau/runtime.h"

namespace {

using flambeau::Error;
using flambeau::ErrorCode;
using flambeau::Leaf;
using flambeau::Tensor;
using flambeau::Value;
using flambeau::c::copy_text;
using flambeau::c::guarded;
using flambeau::c::kind_of;
using flambeau::c::last_failure;
using flambeau::c::read_dtype;
using flambeau::c::read_plain;
using flambeau::c::require;

// The texts of a leaf in the form C takes them.
struct LeafTexts {
  explicit LeafTexts(const Leaf& from) : leaf(&from), text(from.to_string()), range(from.range()) {
    for (const flambeau::graph::LeafSize& size : from.sizes()) sizes.push_back(size.text.c_str());
  }
  flambeau_leaf describe() const {
    return {.name = leaf->name.c_str(),
            .path = leaf->path.c_str(),
            .kind = flambeau::graph::leaf_kind_name(leaf->kind).data(),
            .dtype = static_cast<int32_t>(leaf->dtype),
            .dim = static_cast<int32_t>(sizes.size()),
            .sizes = sizes.data(),
            .range = range.c_str(),
            .text = text.c_str()};
  }
  const Leaf* leaf;
  std::string text;
  std::string range;
  std::vector<const char*> sizes;
};

}  // namespace

struct flambeau_program {
  explicit flambeau_program(flambeau::Program loaded) : program(std::move(loaded)) {
    for (const Leaf& leaf : program.inputs()) inputs.emplace_back(leaf);
    for (const Leaf& leaf : program.outputs()) outputs.emplace_back(leaf);
  }
  flambeau::Program program;
  std::vector<LeafTexts> inputs;
  std::vector<LeafTexts> outputs;
};

namespace {

std::span<const int64_t> read_numbers(int32_t dim, const int64_t* numbers, std::string_view what) {
  require(dim >= 0, fmt::format("a tensor cannot have {} dimensions", dim));
  require(dim == 0 || numbers != nullptr, fmt::format("a tensor of {} dimensions needs {}", dim, what));
  return {numbers, static_cast<size_t>(dim)};
}

Value read_value(const flambeau_value& value, size_t index) {
  const std::string what = fmt::format("input {}", index);
  if (std::optional<Value> plain = read_plain<Value>(value, what)) return *std::move(plain);
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is of the unknown kind {}", what, kind_of(value)));
}

flambeau_value make_value(const Value& value) {
  flambeau_value made = {};
  if (const auto* const tensor = value.get_if<Tensor>()) {
    made.kind = FLAMBEAU_TENSOR_VALUE;
    made.as.tensor = new flambeau_tensor{*tensor};
  } else if (const auto* const integer = value.get_if<int64_t>()) {
    made.kind = FLAMBEAU_INT_VALUE;
    made.as.integer = *integer;
  } else if (const auto* const number = value.get_if<double>()) {
    made.kind = FLAMBEAU_FLOAT_VALUE;
    made.as.number = *number;
  } else if (const auto* const flag = value.get_if<bool>()) {
    made.kind = FLAMBEAU_BOOL_VALUE;
    made.as.flag = *flag ? 1 : 0;
  } else if (const auto* const text = value.get_if<std::string>()) {
    made.kind = FLAMBEAU_STRING_VALUE;
    made.as.text = copy_text(*text);
  } else if (!value.is_none()) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("a result is {}, which C has no value for", value.summary()));
  }
  return made;
}

flambeau::LoadOptions read_options(const flambeau_load_options* options) {
  flambeau::LoadOptions read;
  if (options == nullptr) return read;
  require(options->threads >= 0, "the number of threads cannot be negative");
  if (options->model != nullptr) read.model = options->model;
  read.program.threads = options->threads;
  read.program.plan = options->interpret == 0;
  read.program.ignore_guards = options->ignore_guards != 0;
  return read;
}

flambeau_status describe_leaf(const flambeau_program* program,
                              std::vector<LeafTexts> flambeau_program::* leaves, size_t index,
                              flambeau_leaf* leaf) {
  return guarded([&] {
    require(program != nullptr && leaf != nullptr, "the program or the leaf is NULL");
    const std::vector<LeafTexts>& list = program->*leaves;
    require(index < list.size(), fmt::format("there is no leaf {}, only {} of them", index, list.size()));
    *leaf = list[index].describe();
  });
}

}  // namespace

extern "C" {

const char* flambeau_error_message(void) { return last_failure().message.c_str(); }
const char* flambeau_error_remedy(void) { return last_failure().remedy.c_str(); }

const char* flambeau_dtype_name(int32_t dtype) {
  const std::optional<flambeau::DType> known = flambeau::dtype_from_number(dtype);
  return known ? flambeau::dtype_name(*known).data() : nullptr;  // names are literals
}
size_t flambeau_dtype_size(int32_t dtype) {
  const std::optional<flambeau::DType> known = flambeau::dtype_from_number(dtype);
  return known ? flambeau::dtype_size(*known) : 0;
}

flambeau_status flambeau_tensor_create(int32_t dtype, int32_t dim, const int64_t* sizes,
                                       flambeau_tensor** tensor) {
  return guarded([&] {
    require(tensor != nullptr, "there is no place for the tensor");
    *tensor = new flambeau_tensor{Tensor::zeros(read_dtype(dtype), read_numbers(dim, sizes, "sizes"))};
  });
}

flambeau_status flambeau_tensor_borrow(const flambeau_tensor_view* view, void (*release)(void* user),
                                       void* user, flambeau_tensor** tensor) {
  return guarded([&] {
    require(view != nullptr && tensor != nullptr, "the view or the place for the tensor is NULL");
    const flambeau::DType dtype = read_dtype(view->dtype);
    flambeau::Geometry geometry{
        .sizes = read_numbers(view->dim, view->sizes, "sizes"), .strides = {}, .offset = 0};
    geometry.strides = view->strides == nullptr
                           ? flambeau::contiguous_strides(geometry.sizes)
                           : flambeau::Dims(read_numbers(view->dim, view->strides, "strides"));
    const auto extent = static_cast<size_t>(flambeau::storage_extent(geometry));
    require(view->data != nullptr || extent == 0, "a tensor with elements needs data");
    const size_t bytes = extent * flambeau::dtype_size(dtype);
    // Throws what does not fit before the memory is taken over: after a failure it is the caller's still.
    Tensor::strided(dtype, geometry, flambeau::Storage::meta(bytes));
    auto made = std::make_unique<flambeau_tensor>();
    std::shared_ptr<const void> owner(user, [release](const void* held) {
      if (release != nullptr) release(const_cast<void*>(held));
    });
    made->tensor = Tensor::strided(
        dtype, std::move(geometry),
        flambeau::Storage::borrow(static_cast<uint8_t*>(view->data), bytes, std::move(owner)));
    *tensor = made.release();
  });
}

flambeau_status flambeau_tensor_describe(const flambeau_tensor* tensor, flambeau_tensor_view* view) {
  return guarded([&] {
    require(tensor != nullptr && view != nullptr, "the tensor or the view is NULL");
    const Tensor& described = tensor->tensor;
    if (described.layout() != flambeau::Layout::kStrided) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("the tensor {} has no plain memory to show", described.summary()));
    }
    *view = {.dtype = static_cast<int32_t>(described.dtype()),
             .dim = static_cast<int32_t>(described.dim()),
             .sizes = described.sizes().begin(),
             .strides = described.strides().begin(),
             .data = described.mutable_data()};
  });
}

int64_t flambeau_tensor_element_count(const flambeau_tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->tensor.element_count();
}

flambeau_status flambeau_tensor_copy_to(const flambeau_tensor* tensor, void* to, size_t size) {
  return guarded([&] {
    require(tensor != nullptr, "the tensor is NULL");
    const Tensor packed = tensor->tensor.to_contiguous();
    const flambeau::ByteSpan bytes = packed.contiguous_bytes();
    require(bytes.size() <= size, fmt::format("the tensor {} takes {} bytes, there is room for {}",
                                              packed.summary(), bytes.size(), size));
    if (bytes.empty()) return;
    require(to != nullptr, "the place to copy to is NULL");
    std::memcpy(to, bytes.data(), bytes.size());
  });
}

void flambeau_tensor_free(flambeau_tensor* tensor) { delete tensor; }

flambeau_status flambeau_program_load(const char* path, const flambeau_load_options* options,
                                      flambeau_program** program) {
  return guarded([&] {
    require(path != nullptr && program != nullptr, "the path or the place for the program is NULL");
    *program = new flambeau_program(flambeau::load_program(path, read_options(options)));
  });
}

flambeau_status flambeau_program_load_bytes(const void* bytes, size_t size,
                                            const flambeau_load_options* options,
                                            flambeau_program** program) {
  return guarded([&] {
    require((bytes != nullptr || size == 0) && program != nullptr,
            "the bytes or the place for the program are NULL");
    const auto* const first = static_cast<const uint8_t*>(bytes);
    *program = new flambeau_program(flambeau::load_program(
        flambeau::Mapping::from_buffer(std::vector<uint8_t>(first, first + size)), read_options(options)));
  });
}

flambeau_status flambeau_aot_compile(const char* program, const char* path, int32_t library_only) {
  return guarded([&] {
    require(program != nullptr && path != nullptr, "the path of the program or of the model is NULL");
    flambeau::CompileOptions options;
    if (library_only != 0) options.form = flambeau::CompiledForm::kLibraryPackage;
    flambeau::aot_compile(std::string(program), path, options);
  });
}

flambeau_status flambeau_aot_load(const char* path, const char* device, const flambeau_load_options* options,
                                  flambeau_program** program) {
  return guarded([&] {
    require(path != nullptr && device != nullptr && program != nullptr,
            "the path, the device or the place for the program is NULL");
    *program = new flambeau_program(flambeau::aot_load(path, device, read_options(options)));
  });
}

flambeau_status flambeau_cancel_create(flambeau_cancel** cancel) {
  return guarded([&] {
    require(cancel != nullptr, "there is no place for the cancel");
    *cancel = new flambeau_cancel;
  });
}
void flambeau_cancel_set(flambeau_cancel* cancel, int32_t is_set) {
  if (cancel != nullptr) cancel->flag.store(is_set != 0, std::memory_order_relaxed);
}
void flambeau_cancel_free(flambeau_cancel* cancel) { delete cancel; }

void flambeau_program_free(flambeau_program* program) { delete program; }

size_t flambeau_program_input_count(const flambeau_program* program) {
  return program == nullptr ? 0 : program->inputs.size();
}
size_t flambeau_program_output_count(const flambeau_program* program) {
  return program == nullptr ? 0 : program->outputs.size();
}
flambeau_status flambeau_program_input(const flambeau_program* program, size_t index, flambeau_leaf* leaf) {
  return describe_leaf(program, &flambeau_program::inputs, index, leaf);
}
flambeau_status flambeau_program_output(const flambeau_program* program, size_t index, flambeau_leaf* leaf) {
  return describe_leaf(program, &flambeau_program::outputs, index, leaf);
}

flambeau_status flambeau_program_run(flambeau_program* program, const flambeau_value* inputs,
                                     size_t input_count, flambeau_value* outputs, size_t output_count,
                                     const flambeau_run_options* options) {
  return guarded([&] {
    require(program != nullptr, "the program is NULL");
    require(inputs != nullptr || input_count == 0, "the inputs are NULL");
    require(outputs != nullptr || output_count == 0, "the place for the outputs is NULL");
    require(output_count == program->outputs.size(),
            fmt::format("the program gives {} outputs, there is room for {}", program->outputs.size(),
                        output_count));
    std::vector<Value> leaves;
    for (size_t i = 0; i < input_count; ++i) leaves.push_back(read_value(inputs[i], i));
    flambeau::RunOptions run;
    if (options != nullptr) {
      run.budget.steps = options->most_steps;
      run.budget.bytes = options->most_bytes;
      run.budget.seconds = options->most_seconds;
      if (options->cancel != nullptr) run.budget.cancel = &options->cancel->flag;
    }
    const std::vector<Value> results = program->program.run(leaves, run);
    require(results.size() == output_count,
            fmt::format("the program gave {} outputs instead of {}", results.size(), output_count));
    std::vector<flambeau_value> made(output_count);
    try {
      for (size_t i = 0; i < output_count; ++i) made[i] = make_value(results[i]);
    } catch (...) {
      for (flambeau_value& value : made) flambeau_value_clear(&value);
      throw;
    }
    std::copy(made.begin(), made.end(), outputs);
  });
}

}  // extern "C"
