// What the operators that a model calls run with. A Session is its thread's current one while it lives, so
// that a model's code need not pass it along; whoever wants to see or to answer the calls puts a context of
// its own in front.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>

#include "flambeau/kernels/random/generator.h"

namespace flambeau {
class Tensor;
}
namespace flambeau::ops {
class Context;
class Library;
}  // namespace flambeau::ops
namespace flambeau::symbolic {
class Expr;
class SymInt;
}  // namespace flambeau::symbolic

namespace flambeau::nn {

class ControlFlow;
class Module;
struct Tree;

// Sees modules being called.
class Observer {
 public:
  virtual ~Observer() = default;
  // `arguments` gives the tree ((positional...), {keyword: ...}). Both functions live for the call only.
  virtual void enter(const Module& module, const std::function<Tree()>& arguments) = 0;
  virtual void leave(const Module& module, const std::function<Tree()>& result) = 0;
  // The model asks for a size of a traced tensor, or, without a dimension, for the number of its elements.
  virtual void read_size(const Tensor& /*tensor*/, std::optional<size_t> /*dim*/) {}
  // The model requires something of sizes that nobody knows yet.
  virtual void check(const symbolic::Expr& /*condition*/, const std::string& /*message*/) {}
  // The model's code is no C++: the line of it that runs now, as Python writes it. Empty: it is C++ again.
  virtual void set_line(const std::string& /*line*/) {}
  // The example's number for one that is not known, which the trace then relies on; nothing where data
  // decides, or where nobody traces.
  virtual std::optional<int64_t> specialize(const symbolic::SymInt& /*number*/) { return {}; }
  // Who writes down what cond(), while_loop() and map() do; null: they are followed.
  virtual ControlFlow* control_flow() { return nullptr; }
};

// Makes a context the thread's current one; the one before comes back when it is destroyed. Destroy them in
// the reverse order, on the thread that made them.
class Use {
 public:
  explicit Use(ops::Context& context, Observer* observer = nullptr);
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  friend ops::Context& current();
  friend Observer* observer();

  ops::Context* context_;
  Observer* observer_;
  Use* outer_;
};

struct SessionOptions {
  int threads = 1;  // 0: as many as the machine has cores
  uint64_t seed = kernels::Generator::kDefaultSeed;
  std::shared_ptr<const ops::Library> library = nullptr;  // null: every operator there is
};

class Session {
 public:
  explicit Session(SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ops::Context& context();
  kernels::Generator& generator();
  // Starts the random numbers over, as torch.manual_seed does.
  void manual_seed(uint64_t seed) { generator().manual_seed(seed); }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The thread's context. Throws Error(kInvalidArgument) when nobody made one.
ops::Context& current();
// Who looks; null when nobody does.
Observer* observer();

// Where the functional that is being run was called: for messages and for what is recorded.
std::source_location where();
void set_where(const std::source_location& where);

}  // namespace flambeau::nn
