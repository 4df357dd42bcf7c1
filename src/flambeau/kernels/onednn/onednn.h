// oneDNN, seen without its headers: memory layouts, what is fused behind a layer, and the base of the layers
// in this folder. A layer is prepared once and run many times; float32 only.
//
// Threads: oneDNN brings OpenMP. A layer runs with as many threads as set_threads() had set on the thread
// that made it; they are OpenMP's, not a ThreadPool's. Run layers from a ThreadPool's loop only with
// set_threads(1). Layers are immutable: any number of threads may run one at a time, each with scratch memory
// of its own.
//
// Built without oneDNN, available() is false and every constructor throws Error(kUnsupported).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace flambeau::kernels::onednn {

bool available();
// "2.6.3", or empty.
std::string version();

// How many threads layers made (or sgemm called) on the calling thread from now on use; at least 1.
void set_threads(int threads);

// Sets the number of threads while it lives.
class ThreadsScope {
 public:
  explicit ThreadsScope(int threads);
  ~ThreadsScope();
  ThreadsScope(const ThreadsScope&) = delete;
  ThreadsScope& operator=(const ThreadsScope&) = delete;

 private:
  int before_;
};

// How a float32 array lies in memory: plain strides, or one of oneDNN's blocked forms, which only it can
// read. Sizes are those of the array as PyTorch has it: batch, channels, then space. Cheap to copy.
class Layout {
 public:
  Layout() = default;  // none
  // Without gaps, last size fastest.
  static Layout plain(std::span<const int64_t> sizes);
  // Without gaps, channels (the second size) fastest.
  static Layout channels_last(std::span<const int64_t> sizes);
  static Layout strided(std::span<const int64_t> sizes, std::span<const int64_t> steps);
  // A wish: the layer takes what it is fastest with and says so.
  static Layout any(std::span<const int64_t> sizes);

  explicit operator bool() const { return desc_ != nullptr; }
  std::vector<int64_t> sizes() const;
  size_t bytes() const;  // padding of blocks included
  bool is_any() const;
  bool is_blocked() const;  // neither plain, nor channels last, nor strided
  // Same bytes for the same values.
  friend bool operator==(const Layout& left, const Layout& right) { return left.equals(right); }
  std::string name() const;  // for reports: "8x64x56x56 aBcd16b"

  struct Desc;
  explicit Layout(std::shared_ptr<const Desc> desc) : desc_(std::move(desc)) {}
  const Desc& desc() const { return *desc_; }

 private:
  bool equals(const Layout& other) const;
  std::shared_ptr<const Desc> desc_;
};

// What happens to every element of a result before it is written, in the given order.
struct PostOp {
  enum class Kind : uint8_t {
    kRelu,  // x > 0 ? x : alpha * x
    kClip,  // min(max(x, alpha), beta): relu6 is 0 and 6
    kGeluErf,
    kGeluTanh,
    kSilu,
    kTanh,
    kSigmoid,
    kHardSwish,  // x * clip(x + 3, 0, 6) / 6
    kElu,        // x > 0 ? x : alpha * (exp(x) - 1)
    kLinear,     // alpha * x + beta
    kExp,
    kSquare,
    kSqrt,
    kAbs,
    kSum,       // x + alpha * what the output holds already; alpha 1 adds a residual in place
    kAdd,       // x + operand
    kMultiply,  // x * operand
  };
  Kind kind = Kind::kRelu;
  float alpha = 0;
  float beta = 0;
  // kAdd and kMultiply: as the result, sizes of 1 repeat. One as large as the result keeps convolutions from
  // their fastest loops, and from some altogether (kUnsupported): prefer kSum.
  Layout operand = {};
};

// The base of every layer.
class Layer {
 public:
  // Bytes that a run needs to work in; aligned to 64.
  size_t scratch_bytes() const;
  // oneDNN's name of the loop it chose: "brgemm:avx512_core", "jit_1x1:avx512_core".
  std::string implementation() const;

  struct Prepared;

 protected:
  Layer();
  ~Layer();
  Layer(Layer&&) noexcept;
  Layer& operator=(Layer&&) noexcept;
  // The arrays in the order in which the layer named them.
  void execute(std::span<const void* const> arrays, std::span<const float* const> operands,
               void* scratch) const;

  std::unique_ptr<Prepared> prepared_;
};

// Copies an array from one layout to another.
class Reorder : public Layer {
 public:
  Reorder(const Layout& from, const Layout& to);
  void run(const float* from, float* to, void* scratch) const;
};

// One PostOp (neither kSum, kAdd nor kMultiply) over an array in any layout; `to` may be `from`.
class Elementwise : public Layer {
 public:
  Elementwise(const Layout& layout, const PostOp& operation);
  void run(const float* from, float* to, void* scratch) const;
};

enum class BinaryKind : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kMaximum, kMinimum };

// Two arrays, the second repeated where its size is 1; `to` has the first one's layout and may be the first.
class Binary : public Layer {
 public:
  Binary(BinaryKind kind, const Layout& left, const Layout& right, std::span<const PostOp> post = {});
  void run(const float* left, const float* right, float* to, void* scratch,
           std::span<const float* const> operands = {}) const;
};

}  // namespace flambeau::kernels::onednn
