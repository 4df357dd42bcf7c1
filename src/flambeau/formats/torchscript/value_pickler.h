// Values of scripts as TorchScript's pickles hold them (data.pkl, constants.pkl), byte for byte as PyTorch
// writes a module that was loaded: a value is kept in the memo where it has a second owner.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/formats/torchscript/value_reader.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/ivalue.h"

namespace flambeau::script {

// What writing a file needs of others. Each may be left empty where no such object is written.
struct SaveHooks {
  // The state of an object that LoadHooks::make_native made.
  std::function<IValue(const Object& object)> native_state;
  // What __getstate__ of an object gives.
  std::function<IValue(const Function& get_state, const IValue& object)> get_state;
};

// The storages of several pickles that lie in one folder: those of mobile modules have names of their own.
struct SharedStorages {
  std::unordered_map<const Storage*, size_t> numbers = {};
  std::vector<Tensor> tensors = {};  // by number; keeps storages, so that no two have one address
  // "0.storage"; is new when there was no such storage before.
  std::pair<std::string, bool> name_of(const Tensor& tensor);
};

// Who owns a value beside the one that is pickled.
enum class Owners {
  kCounted,  // whoever there is
  kNone,     // nobody: as PyTorch has what it read from a file in order to write it anew
};

class ValuePickler {
 public:
  // `kept`: what objects whose __setstate__ never ran were saved with. `shared`, when given, names storages.
  ValuePickler(const SaveHooks& hooks, const KeptStates& kept, SharedStorages* shared = nullptr,
               Owners owners = Owners::kCounted)
      : hooks_(hooks), kept_(kept), shared_(shared), owners_(owners) {}

  // The bytes of a pickle with that value. Throws Error(kUnsupported, kInvalidArgument, kLimit) for what no
  // archive can hold, naming the attribute. `is_held`: the value itself has an owner, whatever its parts
  // have.
  std::string pickle(const IValue& value, bool is_held = false);

  // One tensor for each of the storages, in the order of their keys "0", "1", ...: of the last pickle. Where
  // storages are shared, those that were new.
  const std::vector<Tensor>& storages() const { return storages_; }
  // The classes of the objects, in the order of their appearance: of the last pickle. Those of PyTorch's own
  // are null, and only have a name.
  struct Met {
    std::string name;
    std::shared_ptr<const Class> type;
  };
  const std::vector<Met>& classes() const { return classes_; }

 private:
  // `copies`: how many of its owners are one and the same.
  pickle::Node* save(const IValue& value, int depth, uint32_t copies = 1);
  pickle::Node* save_boxed(const IValue& value, int depth);
  pickle::Node* save_list(const IValue& value, int depth);
  pickle::Node* save_dict(const IValue& value, int depth);
  pickle::Node* save_object(const IValue& value, int depth);
  pickle::Node* save_native(const std::string& name, const IValue& state, int depth);
  pickle::Node* with_state(pickle::Node* object, const IValue& state, int depth);
  void mark_native_state(const IValue& state);
  void mark_owned(const IValue& state, const Object& native);
  pickle::Node* save_native_tensor(const Tensor& tensor);
  pickle::Node* save_tensor(const Tensor& tensor);
  pickle::Node* save_sparse(const Tensor& tensor);
  pickle::Node* save_storage(const Tensor& tensor);
  pickle::Node* save_quantizer(const Tensor& tensor);
  pickle::Node* dims(const Dims& values);
  pickle::Node* hooks_of_tensor();
  pickle::Node* class_global(const std::string& qualified_name);
  pickle::Node* tagged(pickle::Node* value, const Type& type);

  const SaveHooks& hooks_;
  const KeptStates& kept_;
  SharedStorages* shared_;
  Owners owners_;
  pickle::Tree tree_;
  pickle::Node* empty_tuple_ = nullptr;                  // of what was read: one for all
  std::unordered_map<const void*, pickle::Node*> done_;  // null while it is being written
  std::unordered_map<const Storage*, pickle::Node*> storage_nodes_;
  // Tensors in native objects, by storage and offset.
  struct NativeTensor {
    Dims sizes;
    pickle::Node* node = nullptr;
  };
  std::map<std::pair<const Storage*, int64_t>, NativeTensor> native_tensors_;
  int native_depth_ = 0;  // native objects inside of each other
  // Of what was made for the pickle alone, so that no two have one address.
  std::deque<IValue> made_;
  std::vector<Tensor> storages_;
  std::vector<Met> classes_;
};

}  // namespace flambeau::script
