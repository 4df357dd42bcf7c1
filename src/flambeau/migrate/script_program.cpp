#include "flambeau/migrate/script_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/migrate/both_ways.h"
#include "flambeau/migrate/script_state.h"
#include "flambeau/migrate/traced_builtins.h"
#include "flambeau/migrate/traced_calls.h"
#include "flambeau/migrate/trees.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/quantized.h"
#include "flambeau/tensor/elements/dequantize.h"
#include "flambeau/trace/export.h"

namespace flambeau::migration {
namespace {

const script::Function& method_of(const IValue& object, const std::string& name) {
  const script::Class& type = *object.as_object().type;
  if (const std::shared_ptr<script::Function>* const found = type.find_method(name)) return **found;
  throw Error(ErrorCode::kNotFound,
              fmt::format("{} has no method '{}'", printable(type.qualified_name()), printable(name)));
}

std::string joined(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& part : texts) {
    if (!text.empty()) text += ", ";
    text += part;
  }
  return text;
}

bool is_same_shape(const Tensor& a, const Tensor& b) {
  const ops::Info<SymInt> left = ops::symbolic_info(a);
  const ops::Info<SymInt> right = ops::symbolic_info(b);
  if (left.dtype != right.dtype || left.dim() != right.dim()) return false;
  for (size_t d = 0; d < left.dim(); ++d) {
    if (!(left.sizes[d] == right.sizes[d])) return false;
  }
  return true;
}

// An argument that the script takes quantized: the program takes the real numbers.
struct QuantizedInput {
  size_t leaf = 0;
  DType dtype = DType::kQUInt8;
  double scale = 1;
  int64_t zero_point = 0;
};

// The whole script as a module: calling it runs the method.
class ScriptRoot final : public ScriptPart {
 public:
  // `unknown`: names of tensors that the method changes after it looked at their elements.
  ScriptRoot(const ScriptCall& given, const TraceOptions& options, std::vector<QuantizedInput> quantized,
             Story& story, const std::set<std::string>& unknown = {})
      : ScriptPart(python_class_name(given.object.as_object().type->qualified_name())),
        given_(given),
        options_(options),
        story_(story),
        quantized_(std::move(quantized)),
        method_(method_of(given.object, given.method)),
        before_(given.object),
        calls_(*this, story),
        pool_(1) {
    add_state(given.object, slots_);
    for (const StateSlot& slot : slots_) {
      if (unknown.contains(slot.name)) calls_.set_unknown(*slot.tensor);
      tensors_before_.push_back(*slot.tensor);
    }
    const auto training = given.object.as_object().type->find_attribute("training");
    const bool is_training = training &&
                             given.object.as_object().slots.at(*training).is(IValue::Tag::kBool) &&
                             given.object.as_object().slots.at(*training).as_bool();
    train(is_training);
  }

  std::vector<std::string> argument_names() const override {
    std::vector<std::string> names;
    for (size_t i = 1; i < method_.signature().arguments.size(); ++i)
      names.push_back(method_.signature().arguments[i].name);
    return names;
  }

  nn::Tree call(std::span<const nn::Tree> positional, const nn::Keywords& keywords) override {
    const Snapshot before(given_.object);
    const ReplacedNoted noted(*this);  // while the replaced ones are there
    interpreter::MachineOptions how;
    how.most_steps = options_.most_steps;
    how.granted = static_cast<uint32_t>(interpreter::Capability::kProfiler);  // which does nothing
    how.specialize = [this](const SymInt& number) { return calls_.specialize(number); };
    BothWays flow(calls_);
    how.flow = &flow;
    const auto program = std::make_shared<const interpreter::Program>(given_.unit, given_.library,
                                                                      traced_builtins(calls_), true);
    interpreter::Machine machine(program, pool_, how);
    machine.context().interceptor = &calls_;
    calls_.machine = &machine;
    struct Guard {
      TracedCalls& calls;
      ~Guard() { calls.machine = nullptr; }
    } const guard{calls_};
    nn::Observer* const observer = nn::observer();
    if (observer != nullptr) observer->set_line({});
    if (observer != nullptr) observer->enter(*this, [] { return nn::Tree(); });
    std::vector<IValue> arguments;
    size_t leaf = 0;
    for (size_t i = 0; i < positional.size(); ++i)
      arguments.push_back(argument(positional[i], type_of(i + 1), leaf, machine.context()));
    std::vector<std::pair<std::string, IValue>> named;
    for (const auto& [name, tree] : keywords) {
      const StateSlot* const slot = find_kept(name);
      if (slot == nullptr) {
        named.emplace_back(name, argument(tree, type_of(place_of(name)), leaf, machine.context()));
      } else {
        slot->object->slots.at(slot->index) =
            argument(tree, slot->object->type->attributes.at(slot->index).type, leaf, machine.context());
      }
    }
    const IValue result = run(machine, flow, std::move(arguments), named);
    take_written_state(before);
    calls_.leave_all();
    calls_.tell_story();
    nn::Tree tree = finished(to_tree(result), machine.context());
    if (!kept_.empty()) tree = with_kept(std::move(tree), machine.context());
    if (observer != nullptr) observer->leave(*this, [&] { return tree; });
    return tree;
  }

  // Tensors of the file that the method changes, and looked at: what it saw there holds in the first run
  // alone.
  std::set<std::string> misjudged() const {
    std::set<std::string> names;
    for (size_t i = 0; i < slots_.size(); ++i) {
      const Tensor& before = tensors_before_[i];
      if (calls_.relies_on(before) && (replaced_.contains(slots_[i].name) || calls_.is_written(before)))
        names.insert(slots_[i].name);
    }
    return names;
  }
  // The attributes that the run changed.
  std::vector<StateSlot> changed() const { return changed_; }
  // "layer1_count" of "layer1.count".
  static std::string argument_of(const StateSlot& slot) {
    std::string name = slot.name;
    std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
  }
  // These become arguments.
  void keep(std::vector<StateSlot> slots) { kept_ = std::move(slots); }

 private:
  struct ReplacedNoted {
    explicit ReplacedNoted(ScriptRoot& given) : root(given) {}
    ~ReplacedNoted() {
      for (size_t i = 0; i < root.slots_.size(); ++i) {
        const StateSlot& slot = root.slots_[i];
        const IValue& held = slot.object->slots.at(slot.index);
        const bool is_same = held.is(IValue::Tag::kTensor) && held.as_tensor().defined() &&
                             held.as_tensor().storage() == root.tensors_before_[i].storage();
        if (!is_same) root.replaced_.insert(slot.name);
      }
    }
    ReplacedNoted(const ReplacedNoted&) = delete;
    ReplacedNoted& operator=(const ReplacedNoted&) = delete;
    ScriptRoot& root;
  };
  const StateSlot* find_kept(const std::string& name) const {
    const auto found = std::ranges::find(kept_, name, argument_of);
    return found == kept_.end() ? nullptr : &*found;
  }
  const Type& type_of(size_t index) const {
    static const Type any = TypeKind::kAny;
    const auto& arguments = method_.signature().arguments;
    return index < arguments.size() ? arguments[index].type : any;
  }
  size_t place_of(const std::string& name) const {
    const auto& arguments = method_.signature().arguments;
    size_t i = 0;
    while (i < arguments.size() && arguments[i].name != name) ++i;
    return i;
  }

  // Throws what cannot be said, all of it that was found.
  IValue run(interpreter::Machine& machine, BothWays& flow, std::vector<IValue> arguments,
             const std::vector<std::pair<std::string, IValue>>& named) const {
    IValue result;
    try {
      result = machine.call_method(given_.object, given_.method, std::move(arguments), named);
    } catch (const Error& error) {
      if (!flow.has_obstacles()) throw;
      flow.add_obstacle(error);
    }
    flow.check_obstacles();
    return result;
  }

  // What the script put in the place of a tensor is what the program writes to it.
  void take_written_state(const Snapshot& before) {
    for (const StateSlot& slot : slots_) {
      const IValue& held = slot.object->slots.at(slot.index);
      if (!held.is(IValue::Tag::kTensor) || !held.as_tensor().defined()) {
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("the method '{}' puts {} in the place of the tensor '{}'",
                                printable(given_.method), printable(held.kind_name()), printable(slot.name)),
                    "a program keeps the tensors that it has; migrate a method that does not change it");
      }
      const Tensor& kept = held.as_tensor();
      const Tensor now = ops::is_quantized(kept) ? ops::integers_of(kept) : kept;
      if (now.storage() == slot.tensor->storage()) continue;
      if (!is_same_shape(now, *slot.tensor)) {
        if (options_.forgets_changes) continue;
        story_.resized.push_back(slot.name);
        continue;
      }
      *slot.tensor = calls_.as_tensor(now);
    }
    if (!story_.resized.empty()) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("the method '{}' puts a tensor of another size or type in the place of '{}'",
                              printable(given_.method), printable(story_.resized.front())),
                  "run the module once so that it has its final size, and save it then");
    }
    if (options_.changes_as_arguments) {
      changed_ = before.changed_attributes(slots_);
      return;
    }
    const std::vector<std::string> changes = before.changes(slots_);
    if (!changes.empty() && !options_.forgets_changes) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("the method '{}' changes {}, which a program cannot keep",
                              printable(given_.method), joined(changes)),
                  "let changes be forgotten after each run, if the result does not need them");
    }
  }

  // What stands in the attributes that are arguments, after the run.
  nn::Tree with_kept(nn::Tree result, ops::Context& context) {
    json::Array names;
    std::vector<TreeSpec> specs;
    std::vector<Value> leaves;
    for (const StateSlot& slot : kept_) {
      nn::Tree tree = finished(to_tree(slot.object->slots.at(slot.index)), context);
      names.emplace_back(argument_of(slot));
      specs.push_back(std::move(tree.spec));
      leaves.insert(leaves.end(), tree.leaves.begin(), tree.leaves.end());
    }
    const nn::Tree both[] = {std::move(result), {TreeSpec::dict(names, std::move(specs)), std::move(leaves)}};
    return nn::Tree::tuple(both);
  }

  // Numbers made of sizes are numbers, those that stand for tensors become some.
  nn::Tree finished(nn::Tree tree, ops::Context& context) {
    for (Value& leaf : tree.leaves) {
      if (leaf.is<std::string>() || leaf.is<Device>() || leaf.is<std::complex<double>>()) {
        throw Error(
            ErrorCode::kUnsupported,
            fmt::format("the method '{}' gives {}, which PyTorch does not read as a result of a program",
                        printable(given_.method), printable(leaf.summary())),
            "give tensors, ints, floats and bools, and tuples, lists and dicts of them");
      }
      Tensor* const tensor = leaf.get_if<Tensor>();
      if (tensor == nullptr || !tensor->defined()) continue;
      *tensor = ops::is_quantized(*tensor) ? ops::call(context, "aten::dequantize.self", *tensor)
                                           : calls_.as_tensor(*tensor);
    }
    return tree;
  }

  // What the script takes as a quantized tensor comes as the real numbers.
  IValue argument(const nn::Tree& given, const Type& type, size_t& leaf, ops::Context& context) {
    nn::Tree tree = given;
    for (Value& value : tree.leaves) {
      const QuantizedInput* const wanted = find_quantized(leaf++);
      if (wanted == nullptr) continue;
      value = ops::call(context, "aten::quantize_per_tensor", value.tensor(), wanted->scale,
                        wanted->zero_point, wanted->dtype);
    }
    return from_tree(tree, type);
  }
  const QuantizedInput* find_quantized(size_t leaf) const {
    for (const QuantizedInput& input : quantized_) {
      if (input.leaf == leaf) return &input;
    }
    return nullptr;
  }

  const ScriptCall& given_;
  const TraceOptions& options_;
  Story& story_;
  const std::vector<QuantizedInput> quantized_;
  const script::Function& method_;
  Snapshot before_;  // first, so that all is put back last
  TracedCalls calls_;
  ThreadPool pool_;
  std::vector<StateSlot> slots_;
  TensorList tensors_before_;       // of the slots
  std::set<std::string> replaced_;  // slots that hold another tensor after the run
  std::vector<StateSlot> changed_, kept_;
};

}  // namespace

namespace {

// Nothing varies.
trace::ShapeSpec fixed_shape(const nn::Tree& tree) {
  if (tree.spec.is_leaf()) return {};
  std::vector<trace::ShapeSpec> items;
  for (const nn::Tree& child : tree.children()) items.push_back(fixed_shape(child));
  if (tree.spec.kind() == TreeKind::kList) return trace::ShapeSpec::list(std::move(items));
  if (tree.spec.kind() == TreeKind::kTuple) return trace::ShapeSpec::tuple(std::move(items));
  std::vector<std::pair<std::string, trace::ShapeSpec>> named;
  for (size_t i = 0; i < items.size(); ++i) {
    const json::Value& key = tree.spec.keys()[i];
    named.emplace_back(key.is_string() ? key.as_string() : json::dump(key), std::move(items[i]));
  }
  return trace::ShapeSpec::dict(std::move(named));
}

}  // namespace

graph::ExportedProgram trace_script(const ScriptCall& call, const TraceOptions& options, Story& story) {
  nn::Session session({.threads = 1, .library = call.library});
  std::vector<QuantizedInput> quantized;
  size_t leaf = 0;
  const auto given = [&](const IValue& value) {
    nn::Tree tree = to_tree(value);
    for (Value& item : tree.leaves) {
      const size_t at = leaf++;
      Tensor* const tensor = item.get_if<Tensor>();
      if (tensor == nullptr || !tensor->defined()) continue;
      if (tensor->layout() != Layout::kStrided) {
        throw Error(ErrorCode::kUnsupported, fmt::format("an argument is sparse: {}", tensor->summary()),
                    "programs take dense tensors: give the dense one, if the script takes it");
      }
      if (!ops::is_quantized(*tensor)) continue;
      const Quantizer& quantizer = ops::quantizer_of(*tensor);
      if (quantizer.is_per_channel()) {
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("the argument {} is quantized per channel", tensor->summary()),
                    "give it quantized per tensor, or as real numbers");
      }
      quantized.push_back({at, tensor->dtype(), quantizer.scale, quantizer.zero_point});
      story.notes.push_back(
          fmt::format("an argument is quantized ({}, scale {}, zero point {}): the program takes "
                      "the real numbers and quantizes them so",
                      dtype_name(tensor->dtype()), quantizer.scale, quantizer.zero_point));
      *tensor = dequantize(*tensor);
    }
    return tree;
  };
  std::vector<nn::Tree> positional;
  for (const IValue& value : call.positional) positional.push_back(given(value));
  nn::Keywords keywords;
  for (const auto& [name, value] : call.keywords) keywords.emplace_back(name, given(value));
  const script::Class& type = *call.object.as_object().type;
  if (call.method == "forward" && !(type.forward_hooks.empty() && type.forward_pre_hooks.empty())) {
    story.notes.emplace_back(
        "the module has hooks, which run where PyTorch calls the module: the program is what its method "
        "forward() does without them");
  }
  const auto traced = [&](ScriptRoot& root, const trace::DynamicShapes& dynamic) {
    return trace::trace_module(root, positional, keywords,
                               {.dynamic = dynamic,
                                .is_like_pytorch = options.is_like_pytorch,
                                .widens_ones = !options.is_like_pytorch});
  };
  // Once more, and without a look at them, where the script sees elements that it changes afterwards.
  const auto traced_as_often = [&](const trace::DynamicShapes& dynamic, const std::vector<StateSlot>& kept) {
    const Story before = story;
    std::set<std::string> unknown;
    while (true) {
      story = before;
      ScriptRoot root(call, options, quantized, story, unknown);
      root.keep(kept);
      const size_t known = unknown.size();
      try {
        graph::ExportedProgram program = traced(root, dynamic);
        unknown.merge(root.misjudged());
        if (unknown.size() == known) return program;
      } catch (const Error& error) {
        const bool is_final = error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kLimit;
        unknown.merge(root.misjudged());
        if (is_final || unknown.size() == known) throw;
      }
    }
  };
  std::vector<StateSlot> changed;
  if (options.changes_as_arguments) {
    Story first;
    ScriptRoot root(call, options, quantized, first);
    traced(root, options.dynamic);
    changed = root.changed();
  }
  if (!changed.empty()) {
    // Integers may be others in each run.
    std::vector<std::pair<std::string, trace::ShapeSpec>> free;
    if (options.dynamic.is_empty()) {
      const std::vector<std::string> names = ScriptRoot(call, options, quantized, story).argument_names();
      for (size_t i = 0; i < positional.size() && i < names.size(); ++i)
        free.emplace_back(names[i], fixed_shape(positional[i]));
      for (const auto& [name, tree] : keywords) free.emplace_back(name, fixed_shape(tree));
    }
    for (const StateSlot& slot : changed) {
      const IValue& value = slot.object->slots.at(slot.index);
      story.kept.push_back({ScriptRoot::argument_of(slot), slot.name, value});
      keywords.emplace_back(story.kept.back().argument, given(value));
      free.emplace_back(story.kept.back().argument, value.is(IValue::Tag::kInt)
                                                        ? trace::ShapeSpec(trace::Dim::AUTO)
                                                        : fixed_shape(keywords.back().second));
    }
    return traced_as_often(options.dynamic.with(std::move(free)), changed);
  }
  return traced_as_often(options.dynamic, {});
}

}  // namespace flambeau::migration
