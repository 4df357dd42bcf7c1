// What a call of an operator may use besides its arguments: the list of operators, threads, memory, random
// numbers. Whoever runs something owns one; nothing here is global. Not for several threads at once: each
// makes its own.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "flambeau/base/parallel.h"
#include "flambeau/base/work.h"
#include "flambeau/ops/mechanism/info.h"
#include "flambeau/value/value.h"

namespace flambeau::kernels {
class Generator;
}

namespace flambeau::ops {

class BlockKernels;
class Context;
class Library;
struct Operator;

// Stands at the entry of every call, e.g. to record it. The results of call() are what the caller gets.
class Interceptor {
 public:
  virtual ~Interceptor() = default;
  // `arguments` fit the operator's schema, all of them in its order. To run the operator itself: execute().
  virtual std::vector<Value> call(Context& context, const Operator& op, std::span<const Value> arguments) = 0;
  // Where arithmetic on sizes is recorded: set while it only checks something, and must leave no trace.
  bool* is_quiet = nullptr;
};

// Where results get their memory.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual std::shared_ptr<Storage> allocate(size_t bytes) = 0;
};

class Context {
 public:
  Context(const Library& library, ThreadPool& pool) : library_(&library), pool_(&pool) {}
  // As another one, without its interceptor.
  Context without_interceptor() const;

  const Library& library() const { return *library_; }
  ThreadPool& pool() const { return *pool_; }

  Interceptor* interceptor = nullptr;
  Allocator* allocator = nullptr;           // null: the heap
  kernels::Generator* generator = nullptr;  // null: operators that draw random numbers throw
  std::unique_lock<std::mutex>* generator_turn =
      nullptr;                            // taken by the first that draws, where there is one
  uint64_t most_steps = 0;                // 0 for no bound
  const BlockKernels* kernels = nullptr;  // for plans: null for none

  // Throws Error(kInvalidArgument) with a remedy where there is none.
  kernels::Generator& require_generator() const;
  // A fresh tensor with anything in it. Throws Error(kLimit) beyond what the work or the machine may take.
  Tensor allocate(const Info<Size>& info);
  Tensor allocate(DType dtype, std::span<const int64_t> sizes);
  // Its memory alone.
  std::shared_ptr<Storage> allocate_storage(size_t bytes);
  // Counts a step; throws Error(kLimit), and what poll_work throws.
  void step();

 private:
  const Library* library_;
  ThreadPool* pool_;
  uint64_t steps_ = 0;
};

}  // namespace flambeau::ops
