// What the parts of a decompiled text have in common: names of classes and functions, literals, constants,
// which helpers and imports are needed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/script/printer/constants.h"
#include "flambeau/script/python/decompile.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

class PythonFile {
 public:
  PythonFile(const Unit& unit, NativeState native_state)
      : unit_(unit), native_state_(std::move(native_state)) {}

  const Unit& unit() const { return unit_; }
  // ---- names
  // Looks at what the methods of these classes may call: which attributes somebody stores to, and what is to
  // be written.
  void look(const std::vector<std::shared_ptr<const Class>>& classes);
  bool is_stored(const std::string& attribute) const { return stored_.contains(attribute); }
  // Whether others call a method of the class that is no forward.
  bool has_other_calls(const std::string& class_name) const { return called_.contains(class_name); }
  // Of a class that is no module, and of a function: "Point", "F.relu". What has a text is remembered to be
  // written.
  const std::string& class_name(std::string_view qualified_name);
  const std::string& function_name(const std::string& qualified_name);
  // A name that nothing in the file has: "Block", "Block_1".
  std::string new_name(std::string_view wanted);
  const std::unordered_set<std::string>& names() const { return names_; }
  // Classes and functions that were named and have a text, in that order.
  const std::vector<std::string>& classes() const { return classes_; }
  const std::vector<std::string>& functions() const { return functions_; }
  // Modules that are one of PyTorch's layers: their forward is called as the layer is.
  void add_layer(const std::string& class_name) { layers_.insert(class_name); }
  bool is_layer(std::string_view class_name) const { return layers_.contains(std::string(class_name)); }

  // ---- text
  // A function that the text brings along; gives its name.
  std::string_view need(std::string_view helper);
  void need_import(std::string_view module) { imports_.insert(std::string(module)); }
  // Throws Error(kUnsupported) for values that no Python can make.
  std::string literal(const IValue& value);
  std::string annotation(const Type& type);
  // "torch.float32"; "dtype_of(99)" for a number that none has.
  static std::string dtype_text(int64_t number);

  // The parts around classes and functions.
  std::string head() const;
  std::string constants() const;

 private:
  std::string tensor_text(const Tensor& tensor);
  std::string strided_text(const Tensor& tensor);
  std::string sparse_text(const Tensor& tensor);
  std::string object_text(const IValue& value);
  std::string items_text(const std::vector<IValue>& items);

  const Unit& unit_;
  NativeState native_state_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, uint64_t> next_numbers_;  // by the name that was wanted
  std::map<std::string, std::string, std::less<>> class_names_;
  std::unordered_map<std::string, std::string> function_names_;
  std::vector<std::string> classes_;
  std::vector<std::string> functions_;
  std::unordered_set<std::string> stored_;
  std::unordered_set<std::string> called_;
  std::unordered_set<std::string> layers_;
  std::set<std::string, std::less<>> helpers_;
  std::set<std::string, std::less<>> imports_;
  ConstantTable table_;
  std::vector<std::string> constants_;  // by their index in the table
  int depth_ = 0;
};

// In double quotes, as Python reads it.
std::string python_quoted(std::string_view text);
std::string python_float(double value);
// "Color" of "__torch__.a.Color"; without marks of mangling.
std::string python_class_name(std::string_view qualified_name);
// "torch.nn.modules.linear.Linear" of "__torch__.torch.nn.modules.linear.___torch_mangle_3.Linear".
std::string unmangled(std::string_view qualified_name);

}  // namespace flambeau::script
