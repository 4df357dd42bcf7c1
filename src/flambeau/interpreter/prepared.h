// What a machine keeps of the last call of an operator at a place in the code. The next one mostly has
// tensors of the same types and sizes, and then neither its arguments nor what follows from them is made
// anew: the sizes of the results, the loop over their elements, small pieces of memory that nobody has any
// more.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "flambeau/interpreter/builtins/builtin.h"
#include "flambeau/interpreter/quick_call.h"
#include "flambeau/interpreter/spare_results.h"
#include "flambeau/ops/engines/body.h"
#include "flambeau/ops/mechanism/info.h"
#include "flambeau/tensor/tensor.h"
#include "flambeau/value/value.h"

namespace flambeau::ops {
class Context;
}

namespace flambeau::interpreter {

struct OperatorSite;

class PreparedCall {
 public:
  explicit PreparedCall(const OperatorSite& site);
  PreparedCall(const PreparedCall&) = delete;
  PreparedCall& operator=(const PreparedCall&) = delete;

  // While it runs, calls at the same place need another one.
  bool is_running() const { return is_running_; }
  // Calls the operator, which the library has. Throws what the operator throws.
  void run(ops::Context& context, Call& call);

 private:
  class Turn;
  // True when everything but the tensors' memory is as in the last call.
  bool take_arguments(Call& call);
  bool take_argument(const Machine& machine, size_t index, const IValue& given);
  // Whether rule, kernel and memory can be called apart from each other.
  bool is_plain() const;
  void run_kernel(ops::Context& context, Call& call, bool is_same);
  void run_view(Call& call, bool is_same);
  void run_anything(ops::Context& context, Call& call);
  void prepare_body();
  bool are_results(const ops::Infos<Size>& infos) const;
  void make_results(ops::Context& context, const ops::Infos<Size>& infos);
  IValue take_memory(ops::Context& context);

  const OperatorSite& site_;
  // Constants stay. Of tensors the description stays between calls, their memory does not.
  std::vector<Value> arguments_;
  std::vector<size_t> tensors_;  // arguments that are tensors, and no constants
  std::vector<size_t> lists_;    // arguments that are lists of them
  std::vector<Tensor> results_;  // likewise without memory
  std::vector<size_t> bytes_;    // that each of them takes
  std::optional<ops::Body> body_;
  SpareResults spares_;
  QuickCall quick_;           // once two calls were described alike
  bool has_results_ = false;  // results_ and bytes_ are those of some call before
  bool is_known_ = false;     // results_, bytes_ and body_ are those of arguments_
  bool is_running_ = false;
};

}  // namespace flambeau::interpreter
