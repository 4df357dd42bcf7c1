#include "flambeau/nn/session.h"

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/library.h"

namespace flambeau::nn {
namespace {

struct ThreadState {
  Use* use = nullptr;
  std::source_location where;
};
thread_local ThreadState thread_state;

}  // namespace

Use::Use(ops::Context& context, Observer* observer)
    : context_(&context), observer_(observer), outer_(thread_state.use) {
  thread_state.use = this;
}

Use::~Use() { thread_state.use = outer_; }

ops::Context& current() {
  if (thread_state.use == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "an operator of nn is called on a thread that has no session",
                "make a flambeau::nn::Session first, and keep it while you work with modules and tensors");
  }
  return *thread_state.use->context_;
}

Observer* observer() { return thread_state.use == nullptr ? nullptr : thread_state.use->observer_; }

std::source_location where() { return thread_state.where; }
void set_where(const std::source_location& where) { thread_state.where = where; }

struct Session::State {
  explicit State(SessionOptions options)
      : library(options.library ? std::move(options.library) : std::make_shared<const ops::Library>()),
        pool(options.threads),
        generator(options.seed),
        context(*library, pool),
        use(context) {
    context.generator = &generator;
  }

  std::shared_ptr<const ops::Library> library;
  ThreadPool pool;
  kernels::Generator generator;
  ops::Context context;
  Use use;
};

Session::Session(SessionOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Session::~Session() = default;

ops::Context& Session::context() { return state_->context; }
kernels::Generator& Session::generator() { return state_->generator; }

}  // namespace flambeau::nn
