#include "flambeau/formats/safety/pickle_uses.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "flambeau/base/error.h"
#include "flambeau/formats/safety/known_globals.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;
using Arguments = std::span<Node* const>;

bool is_kind(const Node* node, std::initializer_list<Kind> kinds) {
  return std::ranges::find(kinds, node->kind()) != kinds.end();
}
bool is_sequence(const Node* node) { return is_kind(node, {Kind::kList, Kind::kTuple, Kind::kSet}); }
bool is_number(const Node* node) { return is_kind(node, {Kind::kInt, Kind::kFloat, Kind::kBool}); }

bool calls(const Node* node, std::string_view dotted) {
  return node->is(Kind::kCall) && node->as_call().callee->is_global(dotted);
}

// ---- arguments as torch.save and Python's pickler write them

bool nothing(Arguments args) { return args.empty(); }
bool anything(Arguments) { return true; }
bool one_text(Arguments args) { return args.size() == 1 && args[0]->is(Kind::kString); }
bool at_most_one_sequence(Arguments args) {
  return args.empty() || (args.size() == 1 && is_sequence(args[0]));
}
bool at_most_one_dict(Arguments args) {
  return args.empty() || (args.size() == 1 && (args[0]->is(Kind::kDict) || is_sequence(args[0])));
}
bool at_most_one_plain(Arguments args) {
  return args.empty() ||
         (args.size() == 1 && is_kind(args[0], {Kind::kString, Kind::kInt, Kind::kFloat, Kind::kBool}));
}
bool two_numbers(Arguments args) { return args.size() == 2 && is_number(args[0]) && is_number(args[1]); }

// _codecs.encode('text', 'latin1'). Other codecs unpack archives, or are modules to import.
bool plain_encoding(Arguments args) {
  if (args.size() != 2 || !args[0]->is(Kind::kString) || !args[1]->is(Kind::kString)) return false;
  const std::string_view name = args[1]->as_string();
  return name == "latin1" || name == "latin-1" || name == "utf-8" || name == "utf8" || name == "ascii";
}

// bytes(), bytearray(b'abc'), bytearray('abc', 'latin-1'). Of a number, it would be that many bytes.
bool bytes_given(Arguments args) {
  if (args.empty()) return true;
  if (args.size() == 2) return plain_encoding(args);
  return args.size() == 1 && (is_kind(args[0], {Kind::kBytes, Kind::kByteArray, Kind::kList, Kind::kTuple}) ||
                              calls(args[0], "_codecs.encode") || calls(args[0], "builtins.bytes") ||
                              calls(args[0], "__builtin__.bytes"));
}

bool device_given(Arguments args) {
  return !args.empty() && args.size() <= 2 && args[0]->is(Kind::kString) &&
         (args.size() == 1 || args[1]->is(Kind::kInt));
}

// defaultdict(list): whatever is given is called later.
bool plain_factory(Arguments args) {
  if (args.empty()) return true;
  if (args[0]->is(Kind::kNone)) return true;
  if (!args[0]->is(Kind::kGlobal)) return false;
  const Node::GlobalName& name = args[0]->as_global();
  return name.module == "builtins" || name.module == "__builtin__" || name.module == "collections";
}

// deque((), 3)
bool items_and_most(Arguments args) {
  return args.size() == 2 ? is_sequence(args[0]) && args[1]->is(Kind::kInt) : at_most_one_sequence(args);
}

// _rebuild_from_type_v2(function, class, arguments, state) calls the function.
bool rebuilds(Arguments args) {
  return args.size() == 4 && args[0]->is(Kind::kGlobal) && args[1]->is(Kind::kGlobal) &&
         args[0]->as_global().module == "torch._utils" && args[2]->is(Kind::kTuple);
}

bool class_first(Arguments args) { return !args.empty() && args[0]->is(Kind::kGlobal); }

// numpy.core.multiarray._reconstruct(ndarray, (0,), b'b'): an array of another shape takes its memory at
// once.
bool empty_array(Arguments args) {
  if (args.size() != 3 || !args[0]->is_global("numpy.ndarray") || !args[1]->is(Kind::kTuple)) return false;
  const Arguments shape = args[1]->items();
  return shape.size() == 1 && shape[0]->is(Kind::kInt) && shape[0]->as_int() == 0;
}

bool numpy_type(Arguments args) {
  return !args.empty() && args.size() <= 3 && args[0]->is(Kind::kString) &&
         args[0]->as_string().size() <= 8 &&
         std::ranges::all_of(args.subspan(1), [](const Node* node) { return is_number(node); });
}

bool numpy_scalar(Arguments args) { return args.size() == 2; }

// What a name may be called with, and what may be done to the object afterwards.
struct Form {
  std::string_view name;
  bool (*fits)(Arguments);
  bool takes_state = false;  // BUILD
  bool takes_pairs = false;  // SETITEMS
  bool takes_items = false;  // APPENDS
};

constexpr Form kForms[] = {
    {"collections.OrderedDict", at_most_one_sequence, true, true},
    {"collections.Counter", at_most_one_dict, false, true},
    {"collections.defaultdict", plain_factory, false, true},
    {"collections.deque", items_and_most, false, false, true},
    {"torch.nn.parameter.Parameter", anything, true},
    {"torch.nn.parameter.Buffer", anything, true},
    {"torch.serialization._get_layout", one_text},
    {"torch.Size", at_most_one_sequence},
    {"torch.Tensor", nothing, true},
    {"torch.device", device_given},
    {"_codecs.encode", plain_encoding},
    {"builtins.bytes", bytes_given},
    {"builtins.bytearray", bytes_given},
    {"builtins.set", at_most_one_sequence},
    {"builtins.frozenset", at_most_one_sequence},
    {"builtins.complex", two_numbers},
    {"builtins.int", at_most_one_plain},
    {"builtins.float", at_most_one_plain},
    {"builtins.bool", at_most_one_plain},
    {"builtins.str", at_most_one_plain},
    {"builtins.list", at_most_one_sequence},
    {"builtins.tuple", at_most_one_sequence},
    {"builtins.dict", at_most_one_dict},
    {"torch._tensor._rebuild_from_type_v2", rebuilds},
    {"torch._tensor._rebuild_from_type", rebuilds},
    {"torch.tensor._rebuild_from_type", rebuilds},
    {"torch._utils._rebuild_wrapper_subclass", class_first},
    {"numpy.core.multiarray._reconstruct", empty_array, true},
    {"numpy._core.multiarray._reconstruct", empty_array, true},
    {"numpy.core.multiarray.scalar", numpy_scalar},
    {"numpy._core.multiarray.scalar", numpy_scalar},
    {"numpy.dtype", numpy_type, true},
};

Form form_of(const Node::GlobalName& name, std::string_view dotted) {
  const auto found = std::ranges::find(kForms, name_in_python_3(name), &Form::name);
  if (found != std::end(kForms)) return *found;
  if (name.module == "torch._utils") return {dotted, anything};
  // torch.FloatTensor, in the earliest files; numpy.dtypes.Float64DType.
  if (name.name.ends_with("Tensor")) return {dotted, nothing, true};
  if (name.module == "numpy.dtypes") return {dotted, nothing, true};
  return {dotted, nullptr};  // a storage, an element type: named, never called
}

std::string problem_of(const Node& node) {
  const Node::Call call = node.as_call();
  if (!call.callee->is(Kind::kGlobal)) return "calls what another call gave, which can be anything";
  const Node::GlobalName& name = call.callee->as_global();
  const GlobalVerdict verdict = judge_global(name, false);
  if (verdict != GlobalVerdict::kData && verdict != GlobalVerdict::kNumpy) return {};
  const std::string dotted = name.dotted();
  const Form form = form_of(name, dotted);
  if (!call.args->is(Kind::kTuple) || call.kwargs != nullptr || call.state_setter != nullptr)
    return fmt::format("calls {} in a way that torch.save never writes", printable(dotted));
  if (form.fits == nullptr) {
    return fmt::format("calls {}, which torch.save only names: it takes as much memory as the file asks for",
                       printable(dotted));
  }
  if (!form.fits(call.args->items())) {
    return fmt::format(
        "calls {} with other arguments than torch.save writes: it can take any amount of memory, "
        "or do something else",
        printable(dotted));
  }
  if ((call.state != nullptr && !form.takes_state) || (!call.pairs.empty() && !form.takes_pairs) ||
      (!call.items.empty() && !form.takes_items)) {
    return fmt::format("changes what {} gave in a way that torch.save never writes", printable(dotted));
  }
  return {};
}

}  // namespace

std::vector<std::string> find_misuses(const pickle::Tree& tree, size_t most) {
  std::vector<std::string> found;
  for (const Node* call : tree.calls()) {
    std::string problem = problem_of(*call);
    if (problem.empty() || std::ranges::find(found, problem) != found.end()) continue;
    found.push_back(std::move(problem));
    if (found.size() == most) break;
  }
  return found;
}

}  // namespace flambeau
