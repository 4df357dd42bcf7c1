#include "flambeau/formats/state_dict/torch_writer.h"

#include <fmt/format.h>

#include "flambeau/archive/pickle/writer.h"
#include "flambeau/archive/zip/writer.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/state_dict/persistent_ids.h"
#include "flambeau/formats/state_dict/tensor_pickler.h"
#include "flambeau/formats/tensor_pieces.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;

// Tensor._rebuild_from_type_v2(function, class, arguments, state) keeps its class and state.
Node* describe_wrapped(pickle::Tree& tree, TensorPickler& pickler, const Node& core, const Tensor& tensor) {
  const bool is_subclass = core.is(Kind::kCall) && core.as_call().callee->is(Kind::kGlobal) &&
                           core.as_call().callee->as_global().name.starts_with("_rebuild_from_type");
  if (!is_subclass) return pickler.describe(tensor);
  const Node::Call& call = core.as_call();
  const TensorPickler::Description parts = pickler.describe_parts(tensor);
  return tree.call(call.callee,
                   tree.tuple({parts.function, call.args->items()[1], parts.args, call.args->items()[3]}));
}

// Whether a storage on its own was saved as torch.UntypedStorage; the tar form had no such class.
bool was_untyped(const Node& storage) {
  const Node& id = *storage.persistent_id();
  return id.is(Kind::kTuple) && id.items().size() > 1 && storage_class_from_node(*id.items()[1]).is_untyped;
}

// What is left of the ids that were read: classes with their source text become plain classes, as
// torch.save writes them today; nothing else may slip through, for its key belongs to the old file.
void replace_other_ids(const pickle::Tree& tree, pickle::Substitutions& substitutions) {
  for (const Node* node : tree.persistents()) {
    substitutions.try_emplace(node, class_in_persistent_id(*node->persistent_id()));
  }
}

std::string pickled(const Checkpoint& checkpoint, const pickle::Substitutions& substitutions) {
  try {
    return pickle::write_python(*checkpoint.tree().root(), 2, &substitutions);
  } catch (Error& error) {
    if (error.code() == ErrorCode::kUnsupported && !checkpoint.skipped().empty()) {
      const auto& [name, reason] = checkpoint.skipped().front();
      error.set_remedy(fmt::format("leave it out with a filter; '{}': {}", printable(name), reason));
    }
    throw;
  }
}

}  // namespace

void write_torch_zip(ByteSink& sink, const Checkpoint& checkpoint, const TorchSaveOptions& options,
                     Progress& progress) {
  // The objects around the tensors are of classes that only the TorchScript archive knows.
  if (format_of(checkpoint.kind()).is_torchscript) {
    return write_torch_zip(sink, Checkpoint::from_tensors(checkpoint.named()), options, progress);
  }
  pickle::Tree additions;
  TensorPickler pickler(additions);
  for (const CheckpointTensor& entry : checkpoint.tensors()) {
    if (entry.role != TensorRole::kNumpyArray) pickler.announce(entry.tensor);
  }
  pickle::Substitutions substitutions;
  checkpoint.for_each_node([&](const Node* node, const Tensor& tensor, TensorRole role) {
    if (role == TensorRole::kNumpyArray || substitutions.contains(node)) return;
    substitutions[node] = role == TensorRole::kStorage ? pickler.describe_storage(tensor, was_untyped(*node))
                                                       : describe_wrapped(additions, pickler, *node, tensor);
  });
  replace_other_ids(checkpoint.tree(), substitutions);
  write_torch_records(sink, pickled(checkpoint, substitutions), pickler.storages(), options, progress);
}

void write_torch_records(ByteSink& sink, std::string_view data,
                         const std::vector<std::shared_ptr<Storage>>& storages,
                         const TorchSaveOptions& options, Progress& progress) {
  uint64_t total = 0;
  for (const std::shared_ptr<Storage>& storage : storages) total += storage->size();
  progress.begin("writing tensors", total);

  zip::WriterOptions zip_options;
  zip_options.top_folder = options.top_folder;
  zip::Writer writer(sink, zip_options);
  writer.add_text("data.pkl", data);
  writer.add_text(".format_version", "1");
  writer.add_text(".storage_alignment", "64");
  writer.add_text("byteorder", "little");
  for (size_t key = 0; key < storages.size(); ++key) {
    const std::shared_ptr<Storage>& storage = storages[key];
    writer.add_stream(
        fmt::format("data/{}", key), storage->size(),
        [&](const std::function<void(ByteSpan)>& emit) { emit_pieces(storage, emit, progress); });
  }
  writer.add_text("version", "3\n");
  writer.add_serialization_id();
  writer.finish();
}

}  // namespace flambeau
