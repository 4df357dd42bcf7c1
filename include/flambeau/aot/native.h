// Compiled models that PyTorch's own compiler made, run here without PyTorch: their libraries are code of a
// stranger, which is loaded into this process.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/runtime/program.h"
#include "flambeau/value/pytree.h"
#include "flambeau/value/value.h"

namespace flambeau::aot {

struct NativeOptions {
  std::string model;  // which one of the package; empty when it has only one
  int threads = 0;    // of operators; 0: as many as the machine has cores
};

// A library that runs. It may do whatever this process may, as any code it loads: there is no wall around it.
class NativeModel {
 public:
  ~NativeModel();
  NativeModel(NativeModel&&) noexcept;
  NativeModel& operator=(NativeModel&&) noexcept;

  // How (args, kwargs) and the result are nested.
  const TreeSpec& in_spec() const;
  const TreeSpec& out_spec() const;
  const std::vector<std::string>& input_names() const;
  const std::vector<std::string>& output_names() const;
  // Name and type of each weight, as the model's author called it.
  std::vector<std::pair<std::string, DType>> constants() const;

  // The tensors among the leaves of in_spec() in, those of out_spec() out; None is an undefined tensor. Any
  // number of threads may call it; the library makes them take turns. Throws Error(kInvalidArgument) for
  // another number of tensors and for what is no plain tensor of the CPU, and Error(kUnsupported) with the
  // library's words when it gives up. Sizes and types are the library's to check, and most do not.
  std::vector<Tensor> run(std::span<const Tensor> inputs);

 private:
  friend NativeModel load_native_package(const std::string& path, const NativeOptions& options);
  struct State;
  explicit NativeModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Opens the library of a package, or a library, and RUNS ITS CODE. Before that its tables are read: throws
// Error(kUnsafe) for a library that needs others than compiled models do or is built to be rewritten while it
// is loaded; Error(kUnsupported) for another machine, for a device other than the CPU, and for functions that
// there are none of here, naming the first.
NativeModel load_native_package(const std::string& path, const NativeOptions& options = {});

}  // namespace flambeau::aot
