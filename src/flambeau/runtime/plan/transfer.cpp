#include "flambeau/runtime/plan/transfer.h"

#include <array>
#include <unordered_map>
#include <utility>

#include "flambeau/runtime/plan/uses.h"

namespace flambeau::runtime {
namespace {

enum Side : uint8_t { kHost, kDevice };

Tensor bytes_of(const std::shared_ptr<Storage>& storage, size_t bytes) {
  return Tensor::contiguous(DType::kUInt8, Dims{static_cast<int64_t>(bytes)}, storage);
}

class CopyLayer final : public backends::PreparedLayer {
 public:
  explicit CopyLayer(std::shared_ptr<const backends::Backend> backend) : backend_(std::move(backend)) {}
  void run(ops::Context&, std::span<const Value> arguments, std::span<Tensor> outputs,
           Storage&) const override {
    backend_->copy(arguments[0].tensor(), outputs[0]);
  }

 private:
  std::shared_ptr<const backends::Backend> backend_;
};

class Transfers {
 public:
  explicit Transfers(Plan& plan) : plan_(plan), buffers_(plan.buffers.size()) {
    for (size_t i = 0; i < buffers_.size(); ++i) {
      buffers_[i].storages[kHost] = plan.stand_ins[i];
      buffers_[i].is_valid[kHost] = plan.buffers[i].kind == Buffer::Kind::kInput;
    }
  }

  void run() {
    for (Step& step : std::exchange(plan_.steps, {})) add(std::move(step));
    for (const Value& output : plan_.outputs) {
      for_each_tensor(output, [&](const Tensor& tensor) {
        if (const std::optional<size_t> index = plan_.find_buffer(tensor)) make_valid(*index, kHost);
      });
    }
  }

 private:
  // What is in a buffer, on either side.
  struct Twins {
    std::array<std::shared_ptr<Storage>, 2> storages;
    std::array<bool, 2> is_valid = {false, false};
  };

  void add(Step step) {
    const Side side = step.prepared ? kDevice : kHost;
    node_ = step.node;
    std::vector<size_t> written;
    for_each_written(step, [&](const Tensor& tensor) {
      if (const std::optional<size_t> index = plan_.find_buffer(tensor)) written.push_back(*index);
    });
    for (const size_t index : written) {  // perhaps not all of it is written now
      if (buffers_[index].is_valid[1 - side]) make_valid(index, side);
    }
    for (Value& argument : step.arguments)
      for_each_tensor(argument, [&](Tensor& tensor) { bring(tensor, side, true); });
    for (Tensor& output : step.outputs) bring(output, side, false);
    plan_.steps.push_back(std::move(step));
    for (const size_t index : written) {
      buffers_[index].is_valid[side] = true;
      buffers_[index].is_valid[1 - side] = false;
    }
  }

  void bring(Tensor& tensor, Side side, bool is_read) {
    if (const std::optional<size_t> index = plan_.find_buffer(tensor)) {
      if (is_read) make_valid(*index, side);
      tensor.set_storage(storage(*index, side), tensor.offset());
    } else if (side == kDevice) {
      tensor.set_storage(constant(tensor.storage()), tensor.offset());
    }
  }

  const std::shared_ptr<Storage>& storage(size_t index, Side side) {
    std::shared_ptr<Storage>& found = buffers_[index].storages[side];
    if (!found) {
      found = Storage::meta(plan_.buffers[index].bytes);
      plan_.buffer_of.emplace(found.get(), plan_.buffers.size());
      plan_.buffers.push_back({.bytes = plan_.buffers[index].bytes, .is_on_device = true});
      plan_.stand_ins.push_back(found);
    }
    return found;
  }

  void make_valid(size_t index, Side side) {
    Twins& twins = buffers_[index];
    if (twins.is_valid[side] || !twins.is_valid[1 - side]) return;
    const size_t bytes = plan_.buffers[index].bytes;
    Step step;
    step.prepared = std::make_shared<CopyLayer>(plan_.backend);
    step.label = "copy to " + (side == kHost ? "the host" : plan_.backend->device().to_string());
    step.node = node_;
    step.arguments = {Value(bytes_of(storage(index, side == kHost ? kDevice : kHost), bytes))};
    step.outputs = {bytes_of(storage(index, side), bytes)};
    plan_.steps.push_back(std::move(step));
    twins.is_valid[side] = true;
  }

  // A constant is copied now, once.
  const std::shared_ptr<Storage>& constant(const std::shared_ptr<Storage>& host) {
    auto& [kept, made] = constants_[host.get()];
    if (!made) {
      kept = host;
      made = plan_.backend->allocate(host->size());
      plan_.backend->copy(bytes_of(host, host->size()), bytes_of(made, host->size()));
    }
    return made;
  }

  Plan& plan_;
  std::vector<Twins> buffers_;  // beside the plan's as they were
  std::unordered_map<const Storage*, std::pair<std::shared_ptr<Storage>, std::shared_ptr<Storage>>>
      constants_;
  std::string node_;
};

}  // namespace

void add_transfers(Plan& plan) {
  if (plan.backend->device() != Device()) Transfers(plan).run();
}

}  // namespace flambeau::runtime
