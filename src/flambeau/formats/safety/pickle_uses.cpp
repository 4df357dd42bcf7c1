#include "flambeau/formats/safety/pickle_uses.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/meta_json.h"
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

// 'f4', '<U7', 'O8': the letter of a plain type, 0 for every other text.
char type_letter(std::string_view code) {
  constexpr std::string_view kOrders = "<>=|", kLetters = "biufcmMOSUV";
  if (!code.empty() && kOrders.find(code[0]) != std::string_view::npos) code.remove_prefix(1);
  if (code.empty() || code.size() > 8 || kLetters.find(code[0]) == std::string_view::npos) return 0;
  const bool has_size = std::ranges::all_of(code.substr(1), [](char c) { return c >= '0' && c <= '9'; });
  return has_size ? code[0] : '\0';
}

bool numpy_type(Arguments args) {
  return !args.empty() && args.size() <= 3 && args[0]->is(Kind::kString) &&
         type_letter(args[0]->as_string()) != 0 &&
         std::ranges::all_of(args.subspan(1), [](const Node* node) { return is_number(node); });
}

bool numpy_scalar(Arguments args) { return args.size() == 2; }

// _reconstruct_fake_tensor(b'{"dtype": 7, "sizes": [{"as_int": 3}], ...}', False): a tensor without values,
// in programs that were exported without any. PyTorch evaluates sizes that are texts.
bool fake_tensor(Arguments args) {
  if (args.size() != 2 || !args[1]->is(Kind::kBool)) return false;
  const Node* const bytes = args[0];
  std::string_view text;
  if (bytes->is(Kind::kBytes)) {
    text = as_text(bytes->as_bytes());
  } else if (calls(bytes, "_codecs.encode") && plain_encoding(bytes->as_call().args->items())) {
    text = bytes->as_call().args->items()[0]->as_string();
  }
  try {
    json::Value description = json::parse(text);
    const graph::TensorMeta meta = pt2::MetaReader().tensor(description);
    const auto is_number = [](const graph::SymInt& size) { return size.is_literal(); };
    return meta.extras.empty() && is_number(meta.storage_offset) &&
           std::ranges::all_of(meta.sizes, is_number) && std::ranges::all_of(meta.strides, is_number);
  } catch (const Error&) {
    return false;
  }
}

// ---- states, which BUILD gives to what a call made

using Call = Node::Call;

// Attributes, by name. A pair of None and a dict would set them by setattr().
bool attributes(const Call& call) { return call.state->is(Kind::kDict); }
// Four parts are given to set_(), which grows a storage to what it is asked for: those in a tuple are
// verified with the tensors, and of a dict its keys would be taken.
bool tensor_state(const Call& call) { return call.state->is(Kind::kTuple); }
bool parameter_state(const Call& call) { return tensor_state(call) && call.state->items().size() != 4; }

// Numbers that lie inside of the `size` bytes of an element.
bool plain_fields(const Node& fields, int64_t size) {
  return fields.is(Kind::kDict) && std::ranges::all_of(fields.pairs(), [&](const pickle::Pair& pair) {
           if (!pair.value->is(Kind::kTuple) || pair.value->items().size() < 2) return false;
           const Arguments field = pair.value->items();
           if (!calls(field[0], "numpy.dtype") || !field[1]->is(Kind::kInt)) return false;
           const Node& arguments = *field[0]->as_call().args;
           if (!arguments.is(Kind::kTuple) || !numpy_type(arguments.items())) return false;
           const std::string_view code = arguments.items()[0]->as_string();
           constexpr std::string_view kNumbers = "biufc";
           if (code.size() > 4 || kNumbers.find(code[0]) == std::string_view::npos) return false;
           int64_t bytes = 0;
           for (const char digit : code.substr(1)) bytes = 10 * bytes + (digit - '0');
           const int64_t offset = field[1]->as_int();
           return offset >= 0 && offset <= size && bytes <= size - offset;
         });
}

// (version, byte order, subarray, names, fields, size, alignment, flags[, metadata]). NumPy believes the
// flags: those of numbers on a type of objects would make pointers of the bytes of an array.
bool numpy_type_state(const Call& call) {
  if (!call.state->is(Kind::kTuple)) return false;
  const Arguments state = call.state->items();
  if (state.size() < 8 || state.size() > 9 || !state[0]->is(Kind::kInt) || !state[2]->is(Kind::kNone) ||
      !state[5]->is(Kind::kInt) || !state[7]->is(Kind::kInt)) {
    return false;
  }
  const Arguments args = call.args->items();
  const char letter = args.empty() ? 'f' : type_letter(args[0]->as_string());
  const int64_t flags = state[7]->as_int();
  if (!state[3]->is(Kind::kNone) || !state[4]->is(Kind::kNone)) {
    return letter == 'V' && flags == 16 && plain_fields(*state[4], state[5]->as_int());
  }
  return flags == (letter == 'O' ? 63 : letter == 'U' ? 8 : 0);
}

// (version, shape, type, is_fortran, data). Of bytes NumPy takes as many as the shape needs or none; for
// objects, which are in a list, it takes the memory first.
bool numpy_array_state(const Call& call) {
  if (!call.state->is(Kind::kTuple) || call.state->items().size() != 5) return false;
  const Arguments state = call.state->items();
  if (!state[4]->is(Kind::kList)) return true;
  if (!state[1]->is(Kind::kTuple)) return false;
  uint64_t count = 1;
  for (const Node* size : state[1]->items()) {
    if (!size->is(Kind::kInt) || size->as_int() < 0) return false;
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(size->as_int()), &count)) return false;
  }
  return count == state[4]->items().size();
}

// What a name may be called with, and what may be done to the object afterwards.
struct Form {
  std::string_view name;
  bool (*fits)(Arguments);
  bool (*takes_state)(const Call&) = nullptr;  // BUILD
  bool takes_pairs = false;                    // SETITEMS
  bool takes_items = false;                    // APPENDS
};

constexpr Form kForms[] = {
    {"collections.OrderedDict", at_most_one_sequence, attributes, true},
    {"collections.Counter", at_most_one_dict, nullptr, true},
    {"collections.defaultdict", plain_factory, nullptr, true},
    {"collections.deque", items_and_most, nullptr, false, true},
    {"torch.nn.parameter.Parameter", anything, parameter_state},
    {"torch.nn.parameter.Buffer", anything, parameter_state},
    {"torch.serialization._get_layout", one_text},
    {"torch.Size", at_most_one_sequence},
    {"torch.Tensor", nothing},
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
    {"torch._export.serde.serialize._reconstruct_fake_tensor", fake_tensor},
    {"numpy.core.multiarray._reconstruct", empty_array, numpy_array_state},
    {"numpy._core.multiarray._reconstruct", empty_array, numpy_array_state},
    {"numpy.core.multiarray.scalar", numpy_scalar},
    {"numpy._core.multiarray.scalar", numpy_scalar},
    {"numpy.dtype", numpy_type, numpy_type_state},
};

Form form_of(const Node::GlobalName& name, std::string_view dotted) {
  const auto found = std::ranges::find(kForms, name_in_python_3(name), &Form::name);
  if (found != std::end(kForms)) return *found;
  if (name.module == "torch._utils") return {dotted, anything};
  // torch.FloatTensor, in the earliest files; numpy.dtypes.Float64DType.
  if (name.name.ends_with("Tensor")) return {dotted, nothing, tensor_state};
  if (name.module == "numpy.dtypes") return {dotted, nothing, numpy_type_state};
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
  const bool is_fine_state = call.state == nullptr || (form.takes_state != nullptr && form.takes_state(call));
  if (!is_fine_state || (!call.pairs.empty() && !form.takes_pairs) ||
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
