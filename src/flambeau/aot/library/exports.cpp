// The functions by which PyTorch loads and runs compiled models, as its interface names them. Each gives 0,
// or 1 with a text for AOTInductorGetLastError() in the same thread; no exception leaves one.
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>

#include "flambeau/aot/library/container.h"
#include "flambeau/base/error.h"

namespace {

using flambeau::Error;
using flambeau::ErrorCode;
using flambeau::aot::Constant;
using flambeau::aot::Container;
using flambeau::aot::HostTensorPointer;
using flambeau::aot::NamedHandles;
using flambeau::aot::Values;
using Which = Container::Which;

// The one thing a thread keeps between calls: the interface has no other place for the text of a failure.
std::string& last_error() {
  thread_local std::string text;
  return text;
}

// PyTorch asks for the text of failed runs alone; that of others is looked for on standard error.
enum class Told : uint8_t { kOnStandardError, kWhenAsked };

template <Told kTold = Told::kOnStandardError, typename Body>
int32_t guarded(const Body& body) noexcept {
  try {
    try {
      body();
      return 0;
    } catch (const Error& error) {
      last_error() = error.what();
    } catch (const std::bad_alloc&) {
      last_error() = "there is not enough memory";
    } catch (const std::exception& error) {
      last_error() = error.what();
    }
    if (kTold == Told::kOnStandardError) std::fprintf(stderr, "flambeau: %s\n", last_error().c_str());
  } catch (...) {
    // Not even memory for the text.
  }
  return 1;
}

void require(bool condition, std::string_view message) {
  if (!condition) throw Error(ErrorCode::kInvalidArgument, std::string(message));
}

Container& at(Container* container) {
  require(container != nullptr, "the model is NULL");
  return *container;
}

template <typename T, typename Get>
int32_t give(Container* container, T* to, const Get& get) noexcept {
  return guarded([&] {
    require(to != nullptr, "there is no place for the answer");
    *to = get(at(container));
  });
}

template <typename T, typename Get>
int32_t give_of_constant(Container* container, size_t index, T* to, const Get& get) noexcept {
  return give(container, to, [&](Container& it) { return get(it.constants().at(index)); });
}

template <typename T>
const char* text_at(const std::vector<T>& texts, size_t index) {
  require(index < texts.size(), "there is none of that number");
  return texts[index].c_str();
}

// The first form of the interface: a map of C++, as the library of GCC lays it out. PyTorch of before its
// wheels took the strings of C++11 has another layout.
using HandleMap = std::unordered_map<std::string, HostTensor*>;
HandleMap& map_at(void* map) {
  require(map != nullptr, "the map of constants is NULL");
  if (aoti_torch_new_tensor_handle == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                "the constants of this model cannot be exchanged by this old PyTorch",
                "use PyTorch 2.6 or newer");
  }
  return *static_cast<HandleMap*>(map);
}
NamedHandles handles_of(void* map) {
  const HandleMap& handles = map_at(map);
  return {handles.begin(), handles.end()};
}

struct Pair {
  const char* name;
  HostTensor* handle;
};
NamedHandles handles_of(const Pair* pairs, size_t count) {
  require(pairs != nullptr || count == 0, "the constants are at no address");
  NamedHandles handles;
  for (size_t i = 0; i < count; ++i) {
    require(pairs[i].name != nullptr, "a constant has no name");
    handles.emplace_back(pairs[i].name, pairs[i].handle);
  }
  return handles;
}

Which which_of(bool use_inactive) { return use_inactive ? Which::kInactive : Which::kActive; }

int32_t run(Container* container, HostTensor** inputs, size_t input_count, HostTensor** outputs,
            size_t output_count) noexcept {
  return guarded<Told::kWhenAsked>([&] {
    require(inputs != nullptr || input_count == 0, "the inputs are at no address");
    std::vector<HostTensorPointer> taken;
    taken.reserve(input_count);
    for (size_t i = 0; i < input_count; ++i) taken.emplace_back(inputs[i]);
    require(outputs != nullptr || output_count == 0, "the outputs are at no address");
    std::vector<HostTensorPointer> made(output_count);
    at(container).run(std::move(taken), made);
    for (size_t i = 0; i < output_count; ++i) outputs[i] = made[i].release();
  });
}

int32_t create(Container** container, std::string_view device, const char* folder) noexcept {
  return guarded([&] {
    require(container != nullptr, "there is no place for the model");
    *container = nullptr;
    if (device != "cpu") {
      throw Error(ErrorCode::kUnsupported,
                  "the model was compiled for the CPU, not for '" + flambeau::printable(device) + "'",
                  "load it for the device 'cpu'");
    }
    *container = new Container(folder == nullptr ? "" : folder);
  });
}

}  // namespace

extern "C" {

int32_t AOTInductorGetLastError(const char** text) {
  if (text == nullptr) return 1;
  *text = last_error().c_str();
  return 0;
}

int32_t AOTInductorModelContainerCreateWithDevice(Container** container, size_t /*models*/,
                                                  const char* device, const char* folder) {
  return create(container, device == nullptr ? "" : device, folder);
}
int32_t AOTInductorModelContainerCreate(Container** container, size_t /*models*/, bool is_cpu,
                                        const char* folder) {
  return create(container, is_cpu ? "cpu" : "cuda", folder);
}
int32_t AOTInductorModelContainerDelete(Container* container) {
  return guarded([&] { delete container; });
}

// The stream and the executor are of other devices and of operators of PyTorch's: there are none here.
int32_t AOTInductorModelContainerRun(Container* container, HostTensor** inputs, size_t input_count,
                                     HostTensor** outputs, size_t output_count, void* /*stream*/,
                                     void* /*executor*/) {
  return run(container, inputs, input_count, outputs, output_count);
}
int32_t AOTInductorModelContainerRunSingleThreaded(Container* container, HostTensor** inputs,
                                                   size_t input_count, HostTensor** outputs,
                                                   size_t output_count, void* /*stream*/,
                                                   void* /*executor*/) {
  return run(container, inputs, input_count, outputs, output_count);
}

int32_t AOTInductorModelContainerGetNumInputs(Container* container, size_t* count) {
  return give(container, count, [](Container& it) { return it.input_names().size(); });
}
int32_t AOTInductorModelContainerGetInputName(Container* container, size_t index, const char** name) {
  return give(container, name, [&](Container& it) { return text_at(it.input_names(), index); });
}
int32_t AOTInductorModelContainerGetNumOutputs(Container* container, size_t* count) {
  return give(container, count, [](Container& it) { return it.output_names().size(); });
}
int32_t AOTInductorModelContainerGetOutputName(Container* container, size_t index, const char** name) {
  return give(container, name, [&](Container& it) { return text_at(it.output_names(), index); });
}
int32_t AOTInductorModelContainerGetCallSpec(Container* container, const char** in_spec,
                                             const char** out_spec) {
  return guarded([&] {
    require(in_spec != nullptr && out_spec != nullptr, "there is no place for the answer");
    *in_spec = at(container).in_spec().c_str();
    *out_spec = at(container).out_spec().c_str();
  });
}

int32_t AOTInductorModelContainerGetNumConstants(Container* container, size_t* count) {
  return give(container, count, [](Container& it) { return it.constants().all().size(); });
}
int32_t AOTInductorModelContainerGetConstantName(Container* container, size_t index, const char** name) {
  return give_of_constant(container, index, name, [](const Constant& it) { return it.name.c_str(); });
}
int32_t AOTInductorModelContainerGetConstantOriginalFQN(Container* container, size_t index,
                                                        const char** name) {
  return give_of_constant(container, index, name, [](const Constant& it) { return it.original.c_str(); });
}
int32_t AOTInductorModelContainerGetConstantFromFolded(Container* container, size_t index, bool* is_folded) {
  return give_of_constant(container, index, is_folded, [](const Constant&) { return false; });
}
int32_t AOTInductorModelContainerGetConstantType(Container* container, size_t index, int32_t* kind) {
  return give_of_constant(container, index, kind,
                          [](const Constant& it) { return static_cast<int32_t>(it.kind); });
}
int32_t AOTInductorModelContainerGetConstantDtype(Container* container, size_t index, int32_t* dtype) {
  return give_of_constant(container, index, dtype,
                          [](const Constant& it) { return static_cast<int32_t>(it.dtype); });
}
int32_t AOTInductorModelContainerGetConstantDataSize(Container* container, size_t index, size_t* bytes) {
  return give_of_constant(container, index, bytes,
                          [](const Constant& it) { return static_cast<size_t>(it.bytes); });
}

int32_t AOTInductorModelContainerUpdateConstantBuffer(Container* container, void* map, bool use_inactive,
                                                      bool is_full) {
  return guarded(
      [&] { at(container).update(handles_of(map), which_of(use_inactive), Values::kCopied, is_full); });
}
int32_t AOTInductorModelContainerUpdateConstantBufferPairs(Container* container, const Pair* pairs,
                                                           size_t count, bool use_inactive, bool is_full) {
  return guarded([&] {
    at(container).update(handles_of(pairs, count), which_of(use_inactive), Values::kCopied, is_full);
  });
}
// There is no other device to copy from.
int32_t AOTInductorModelContainerUpdateConstantBufferFromCpu(Container* container, void* map,
                                                             bool use_inactive, bool is_full) {
  return AOTInductorModelContainerUpdateConstantBuffer(container, map, use_inactive, is_full);
}
int32_t AOTInductorModelContainerUpdateConstantBufferFromCpuPairs(Container* container, const Pair* pairs,
                                                                  size_t count, bool use_inactive,
                                                                  bool is_full) {
  return AOTInductorModelContainerUpdateConstantBufferPairs(container, pairs, count, use_inactive, is_full);
}
int32_t AOTInductorModelContainerUpdateUserManagedConstantBuffer(Container* container, void* map,
                                                                 bool use_inactive, bool is_full) {
  return guarded(
      [&] { at(container).update(handles_of(map), which_of(use_inactive), Values::kShared, is_full); });
}
int32_t AOTInductorModelContainerUpdateUserManagedConstantBufferPairs(Container* container, const Pair* pairs,
                                                                      size_t count, bool use_inactive,
                                                                      bool is_full) {
  return guarded([&] {
    at(container).update(handles_of(pairs, count), which_of(use_inactive), Values::kShared, is_full);
  });
}
int32_t AOTInductorModelContainerUpdateInactiveConstantBuffer(Container* container, void* map) {
  return AOTInductorModelContainerUpdateConstantBuffer(container, map, true, true);
}
int32_t AOTInductorModelContainerUpdateInactiveConstantBufferPairs(Container* container, const Pair* pairs,
                                                                   size_t count) {
  return AOTInductorModelContainerUpdateConstantBufferPairs(container, pairs, count, true, true);
}
int32_t AOTInductorModelContainerFreeInactiveConstantBuffer(Container* container) {
  return guarded([&] { at(container).free_inactive(); });
}
int32_t AOTInductorModelContainerSwapConstantBuffer(Container* container) {
  return guarded([&] { at(container).swap(); });
}
// What can be computed ahead is, when the first run of a shape is planned.
int32_t AOTInductorModelContainerRunConstantFolding(Container* container, bool /*use_inactive*/,
                                                    void* /*stream*/, void* /*executor*/) {
  return guarded([&] { at(container); });
}

int32_t AOTInductorModelContainerExtractConstantsMap(Container* container, void* map, bool use_inactive) {
  return guarded([&] {
    HandleMap& to = map_at(map);
    for (auto& [name, handle] : at(container).copies(which_of(use_inactive))) {
      HostTensor*& place = to[name];
      place = handle.release();
    }
  });
}
int32_t AOTInductorModelContainerExtractConstantsMapEntries(Container* container, const Pair** entries,
                                                            size_t* count, bool use_inactive) {
  return guarded([&] {
    require(entries != nullptr && count != nullptr, "there is no place for the answer");
    // The list is this thread's until the next call; the tensors are the caller's.
    thread_local std::vector<Pair> list;
    list.clear();
    auto copies = at(container).copies(which_of(use_inactive));
    list.reserve(copies.size());
    for (size_t i = 0; i < copies.size(); ++i)
      list.push_back({at(container).constants().at(i).original.c_str(), copies[i].second.release()});
    *entries = list.data();
    *count = list.size();
  });
}

int32_t AOTInductorModelContainerGetConstantsBlobSize(Container* container, uint64_t* bytes) {
  return give(container, bytes, [](Container& it) { return it.constants().blob_bytes(); });
}
int32_t AOTInductorModelUpdateConstantsFromBlob(Container* container, const uint8_t* blob) {
  return guarded([&] { at(container).update_from_blob(blob); });
}

// The same without a container around it, for hosts that hold a model themselves: one is as good as the
// other.
int32_t AOTInductorModelCreateV2(Container** model, const Pair* pairs, size_t count) {
  const int32_t status = create(model, "cpu", nullptr);
  if (status != 0 || count == 0) return status;
  return AOTInductorModelContainerUpdateConstantBufferPairs(*model, pairs, count, false, false);
}
int32_t AOTInductorModelCreate(Container** model, void* map) {
  const int32_t status = create(model, "cpu", nullptr);
  if (status != 0 || map == nullptr) return status;
  return AOTInductorModelContainerUpdateConstantBuffer(*model, map, false, false);
}
int32_t AOTInductorModelDelete(Container* model) { return AOTInductorModelContainerDelete(model); }
int32_t AOTInductorModelRun(Container* model, HostTensor** inputs, HostTensor** outputs) {
  if (model == nullptr) return run(model, nullptr, 0, nullptr, 0);
  return run(model, inputs, model->input_names().size(), outputs, model->output_names().size());
}
int32_t AOTInductorModelUpdateConstantsMap(Container* model, void* map) {
  return AOTInductorModelContainerUpdateConstantBuffer(model, map, false, false);
}
int32_t AOTInductorModelUpdateConstantsMapV2(Container* model, const Pair* pairs, int32_t count) {
  return AOTInductorModelContainerUpdateConstantBufferPairs(
      model, pairs, count < 0 ? 0 : static_cast<size_t>(count), false, false);
}
int32_t AOTInductorModelGetNumOutputs(Container* model, size_t* count) {
  return AOTInductorModelContainerGetNumOutputs(model, count);
}

}  // extern "C"
