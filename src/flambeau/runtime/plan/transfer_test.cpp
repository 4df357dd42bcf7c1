// Plans with a backend whose memory the host cannot reach: a folder for a device adds what is in this file,
// and changes nothing in this room.
#include "flambeau/runtime/plan/transfer.h"

#include <cmath>
#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/runtime/plan/plan_test_programs.h"

namespace flambeau::runtime {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr Device kFar{DeviceType::kPrivateUse1, 0};

// Where a tensor's bytes are, on either side.
uint8_t* reach(const Tensor& tensor) {
  const std::shared_ptr<Storage>& storage = tensor.storage();
  if (storage->device() == Device()) return tensor.mutable_data();
  return std::static_pointer_cast<Bytes>(storage->device_memory())->data() + storage->device_offset() +
         static_cast<size_t>(tensor.offset()) * tensor.element_size();
}

class FarLayer final : public backends::PreparedLayer {
 public:
  explicit FarLayer(float (*function)(float, float)) : function_(function) {}
  void run(ops::Context&, std::span<const Value> arguments, std::span<Tensor> outputs,
           Storage& scratch) const override {
    EXPECT_EQ(scratch.device(), kFar);
    EXPECT_EQ(outputs[0].storage()->device(), kFar);
    const Tensor& left = arguments[0].tensor();
    const Tensor& right = arguments.size() > 1 ? arguments[1].tensor() : left;
    EXPECT_EQ(left.storage()->device(), kFar);
    EXPECT_EQ(right.storage()->device(), kFar);
    const auto* const a = reinterpret_cast<const float*>(reach(left));
    const auto* const b = reinterpret_cast<const float*>(reach(right));
    auto* const to = reinterpret_cast<float*>(reach(outputs[0]));
    for (int64_t i = 0; i < outputs[0].element_count(); ++i) to[i] = function_(a[i], b[i]);
  }

 private:
  float (*function_)(float, float);
};

// Knows sines and products of two tensors, packed ones of float32.
class Far final : public backends::Backend {
 public:
  std::string_view name() const override { return "far"; }
  Device device() const override { return kFar; }
  std::shared_ptr<Storage> allocate(size_t bytes) const override {
    return Storage::on_device(kFar, bytes, std::make_shared<Bytes>(bytes));
  }
  void copy(const Tensor& from, const Tensor& to) const override {
    EXPECT_EQ(from.byte_count(), to.byte_count());
    std::memcpy(reach(to), reach(from), from.byte_count());
  }
  backends::LayerPointer kernel(ops::Context&, const ops::Operator& op, std::span<const Value>,
                                std::span<const Tensor>) const override {
    if (op.name() == "aten::sin")
      return std::make_unique<FarLayer>([](float a, float) { return std::sin(a); });
    if (op.name() == "aten::mul.Tensor")
      return std::make_unique<FarLayer>([](float a, float b) { return a * b; });
    return nullptr;
  }
};

class FarPlans : public Plans {
 protected:
  FarPlans() { backend = std::make_shared<Far>(); }
};

const std::string kFour = "x: \"f32[4]\"";
const std::string kThere = "copy to privateuseone:0(";

TEST_F(FarPlans, CopyWhatEntersAndWhatLeaves) {
  EXPECT_EQ(plan_of(kFour, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                              b: "f32[4]" = torch.ops.aten.mul.Tensor(a, x)
                              return (b,))",
                    "place buffers"),
            (Lines{kThere + "x0) -> a0", "sin(a0) -> a1", "mul.Tensor(a1, a0) -> a2",
                   "copy to the host(a2) -> y0", "gives y0"}));
  EXPECT_EQ(plan->arena_bytes, 0U);
  EXPECT_GT(plan->device_bytes, 0U);
  expect_right();
}

TEST_F(FarPlans, CopyBetweenStepsOfBothSides) {
  EXPECT_EQ(
      plan_of(kFour, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                              b: "f32[4]" = torch.ops.aten.cos.default(a)
                              c: "f32[4]" = torch.ops.aten.mul.Tensor(a, b)
                              return (c,))",
              "place buffers"),
      (Lines{kThere + "x0) -> a0", "sin(a0) -> a1", "copy to the host(a1) -> a2", "cos(a2) -> a3",
             kThere + "a3) -> a4", "mul.Tensor(a1, a4) -> a5", "copy to the host(a5) -> y0", "gives y0"}));
  EXPECT_GT(plan->arena_bytes, 0U);
  expect_right();
}

TEST_F(FarPlans, CopyOnceForAllWhoRead) {
  plan_of(kFour, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                    b: "f32[4]" = torch.ops.aten.sin.default(x)
                    c: "f32[4]" = torch.ops.aten.mul.Tensor(a, b)
                    d: "f32[4]" = torch.ops.aten.cos.default(c)
                    e: "f32[4]" = torch.ops.aten.exp.default(c)
                    f: "f32[4]" = torch.ops.aten.add.Tensor(d, e)
                    return (f,))",
          "place buffers");
  EXPECT_EQ(
      std::ranges::count_if(plan->steps, [](const Step& step) { return step.label.starts_with("copy"); }), 2);
  expect_right();
}

TEST_F(FarPlans, BringConstantsWhenTheyAreMade) {
  EXPECT_EQ(plan_of("c_w: \"f32[4]\", " + kFour, R"(a: "f32[4]" = torch.ops.aten.mul.Tensor(x, c_w)
                                                    b: "f32[4]" = torch.ops.aten.mul.Tensor(a, c_w)
                                                    return (b,))",
                    "place buffers"),
            (Lines{kThere + "x0) -> a0", "mul.Tensor(a0, c) -> a1", "mul.Tensor(a1, c) -> a2",
                   "copy to the host(a2) -> y0", "gives y0"}));
  const std::shared_ptr<Storage>& there = plan->steps[1].arguments[1].tensor().storage();
  EXPECT_EQ(there->device(), kFar);
  EXPECT_EQ(there, plan->steps[2].arguments[1].tensor().storage()) << "once";
  expect_right();
}

TEST_F(FarPlans, SeeWhatTheOtherSideWroteInPart) {
  // The host writes to a half of what the device made; the device reads all of it.
  plan_of(kFour, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                    v: "f32[2]" = torch.ops.aten.slice.Tensor(a, 0, 0, 2)
                    w: "f32[2]" = torch.ops.aten.exp_.default(v)
                    b: "f32[4]" = torch.ops.aten.mul.Tensor(a, a)
                    return (b,))",
          "place buffers");
  expect_right();
}

TEST_F(FarPlans, InputsMayBeginAnywhere) {
  plan_of(kFour, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                    return (a,))",
          "place buffers");
  const Tensor whole = ops::call(context, "aten::arange", 10).to_contiguous();
  Tensor numbers = ops::call(context, "aten::to.dtype", whole, DType::kFloat32);
  given[0] = numbers.with_geometry({Dims{4}, Dims{1}, 3});
  EXPECT_LT(compare(run(), ops::call(context, "aten::sin", given[0])).max_abs, 1e-6);
}

TEST_F(FarPlans, OutputsMayBeInputs) {
  EXPECT_EQ(plan_of(kFour, R"(a: "f32[4]" = torch.ops.aten.cos.default(x)
                              return (a, x))",
                    "place buffers"),
            (Lines{"cos(x0) -> y0", "gives y0 x0"}));
  expect_right();
}

TEST_F(Plans, OnTheHostNothingIsCopied) {
  EXPECT_EQ(plan_of(kFour, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                              return (a,))",
                    "place buffers"),
            (Lines{"sin(x0) -> y0", "gives y0"}));
  EXPECT_EQ(plan->device_bytes, 0U);
}

TEST_F(FarPlans, TheHostRefusesWhatItCannotReach) {
  const Tensor far = Tensor::contiguous(DType::kFloat32, Dims{4}, backend->allocate(16));
  try {
    ops::call(context, "aten::cos", far);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "the host cannot reach memory of the device privateuseone:0");
    EXPECT_EQ(error.remedy(), "copy the tensor to the host first");
  }
}

}  // namespace
}  // namespace flambeau::runtime
