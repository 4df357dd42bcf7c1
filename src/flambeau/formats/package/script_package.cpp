#include "flambeau/formats/package/script_package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/formats/record_pickle.h"

namespace flambeau::script {
namespace {

using pickle::Kind;
using pickle::Node;

constexpr std::string_view kScripts = ".data/ts_code/";
constexpr std::string_view kData = "/data.pkl";
constexpr std::string_view kUnpackage = "torch.jit._script.unpackage_script_module";
constexpr size_t kMostPackagedModules = 10000;
constexpr int kMostPackageDepth = 100;
// Places that a pickle is looked at for names: pickles may refer to the same parts again and again.
constexpr size_t kMostPlaces = size_t{1} << 20;

// The number of the module that a persistent id stands for; nothing for another id.
std::optional<std::string> module_of_id(const Node& id) {
  if (!id.is(Kind::kTuple) || id.items().size() < 3) return std::nullopt;
  const auto items = id.items();
  const Node& function = *items[items.size() - 2];
  const Node& arguments = *items[items.size() - 1];
  if (!items[0]->is(Kind::kString) || items[0]->as_string() != "reduce_package") return std::nullopt;
  if (!function.is(Kind::kGlobal) || function.as_global().dotted() != kUnpackage) return std::nullopt;
  if (!arguments.is(Kind::kTuple) || arguments.items().size() != 1 ||
      !arguments.items()[0]->is(Kind::kString))
    corrupt("a script module of a package is known by one text, its number");
  return std::string(arguments.items()[0]->as_string());
}

// Finds the modules of a pickle, and what each is called from its root on.
class NameFinder {
 public:
  NameFinder(std::string record, std::unordered_map<std::string, std::vector<std::string>>& names)
      : record_(std::move(record)), names_(names) {}

  void visit(const Node& node, const std::string& path, int depth) {
    if (depth > kMostPackageDepth || ++places_ > kMostPlaces) return;
    const auto inside = [&](const Node& part, const std::string& name) {
      visit(part, path.empty() ? name : fmt::format("{}.{}", path, name), depth + 1);
    };
    switch (node.kind()) {
      case Kind::kPersistent:
        if (const std::optional<std::string> id = module_of_id(*node.persistent_id()))
          names_[*id].push_back(path.empty() ? record_ : fmt::format("{}:{}", record_, path));
        return;
      case Kind::kList:
      case Kind::kTuple:
        for (size_t i = 0; i < node.items().size(); ++i) inside(*node.items()[i], std::to_string(i));
        return;
      case Kind::kDict:
        return visit_pairs(node.pairs(), inside);
      case Kind::kCall: {
        const Node::Call call = node.as_call();
        visit_pairs(call.pairs, inside);
        for (size_t i = 0; i < call.items.size(); ++i) inside(*call.items[i], std::to_string(i));
        if (call.state != nullptr) visit(*call.state, path, depth + 1);
        if (call.args != nullptr && call.args->is(Kind::kTuple)) visit(*call.args, path, depth + 1);
        return;
      }
      default:
        return;
    }
  }

 private:
  // The modules of an nn.Module are in its "_modules", which nobody says.
  template <typename Inside>
  static void visit_pairs(std::span<const pickle::Pair> pairs, const Inside& inside) {
    for (const pickle::Pair& pair : pairs) {
      if (pair.key->is(Kind::kString)) inside(*pair.value, std::string(pair.key->as_string()));
      if (pair.key->is(Kind::kInt)) inside(*pair.value, std::to_string(pair.key->as_int()));
    }
  }

  std::string record_;
  std::unordered_map<std::string, std::vector<std::string>>& names_;
  size_t places_ = 0;
};

// "0" of ".data/ts_code/0/data.pkl"; empty for another record.
std::string id_of_record(std::string_view name) {
  if (!name.starts_with(kScripts) || !name.ends_with(kData)) return {};
  name.remove_prefix(kScripts.size());
  if (name.size() <= kData.size()) return {};
  name.remove_suffix(kData.size());
  return name.find('/') == std::string_view::npos ? std::string(name) : std::string();
}

std::string class_of_module(const RecordArchive& records, const std::string& id) {
  const std::string record = fmt::format("{}{}{}", kScripts, id, kData);
  const pickle::Tree tree = read_record_pickle(records.zip(), records.get(record), record);
  const Node& root = *tree.root();
  if (!root.is(Kind::kCall) || !root.as_call().callee->is(Kind::kGlobal)) return {};
  return root.as_call().callee->as_global().dotted();
}

}  // namespace

bool is_script_package(const RecordArchive& records) {
  const auto names = records.names();
  return records.has(".data/extern_modules") &&
         std::ranges::any_of(names, [](std::string_view name) { return !id_of_record(name).empty(); });
}

std::vector<PackagedModule> packaged_modules(const RecordArchive& records) {
  std::vector<PackagedModule> found;
  std::unordered_map<std::string, std::vector<std::string>> names;
  for (const std::string_view name : records.names()) {
    const std::string id = id_of_record(name);
    if (!id.empty()) {
      if (found.size() >= kMostPackagedModules)
        throw Error(ErrorCode::kLimit, "a package with more than 10000 script modules");
      found.push_back({id, {}, class_of_module(records, id)});
      continue;
    }
    if (name.starts_with(".data/") || !name.ends_with(".pkl")) continue;
    const pickle::Tree tree = read_record_pickle(records.zip(), records.get(name), name);
    with_location("record", printable(name),
                  [&] { NameFinder(std::string(name), names).visit(*tree.root(), {}, 0); });
  }
  for (PackagedModule& module : found) module.names = std::move(names[module.id]);
  std::ranges::sort(found, [](const PackagedModule& a, const PackagedModule& b) {
    return std::pair(a.id.size(), a.id) < std::pair(b.id.size(), b.id);
  });
  return found;
}

const PackagedModule& find_packaged_module(const std::vector<PackagedModule>& modules,
                                           std::string_view name) {
  if (name.empty() && modules.size() == 1) return modules.front();
  std::vector<std::string> known;
  for (const PackagedModule& module : modules) {
    if (!name.empty() && (module.id == name || std::ranges::find(module.names, name) != module.names.end()))
      return module;
    known.push_back(printable(module.names.empty() ? module.id : module.names.front()));
  }
  throw Error(ErrorCode::kNotFound,
              name.empty() ? fmt::format("the package has {} script modules", modules.size())
                           : fmt::format("the package has no script module '{}'", printable(name)),
              fmt::format("name one of {}", fmt::join(known, ", ")));
}

ScriptPlaces places_in_package(const std::string& id, std::shared_ptr<SharedZipStorages> shared) {
  return {.data = fmt::format("{}{}/data", kScripts, id),
          .constants = fmt::format("{}{}/constants", kScripts, id),
          .code = fmt::format("{}code/", kScripts),
          .storages = ".data",
          .shared = std::move(shared)};
}

}  // namespace flambeau::script
