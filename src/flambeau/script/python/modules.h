// Modules as classes of Python: one for each kind of module, with the layers, parameters and attributes of
// that very object in its __init__.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/script/python/file.h"
#include "flambeau/script/python/layers.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {

class PythonModules {
 public:
  PythonModules(PythonFile& file, const IValue& root) : file_(file), root_(root) {}

  // Looks at all modules: which are layers. Before anything is written.
  void look();
  // The classes of all of them, the root's last.
  std::string write();
  const std::string& root_name() const { return root_name_; }
  bool has_tensors() const { return !tensors_.empty(); }

 private:
  void visit(const ObjectBox& module, int depth);
  // How it is made: "nn.Linear(3, 4)", "Block()". `path`: how the root reaches it: "self.layer1[0]".
  std::string construct(const ObjectBox& module, const std::string& path, int depth);
  std::string container_text(const ObjectBox& module, PythonContainer kind, const std::string& path,
                             int depth);
  std::string class_text(const ObjectBox& module, const std::string& path, int depth);
  std::vector<std::string> init_lines(const ObjectBox& module, const std::string& path, int depth);
  std::string slot_line(const Attribute& attribute, const IValue& value, const std::string& path, int depth);
  std::string child_path(const ObjectBox& module, const std::string& path, const std::string& name) const;
  const std::string& methods_text(const Class& type);
  void note_tensors(const ObjectBox& module, const std::string& path);
  void note_training(const ObjectBox& module, const std::string& path);
  std::string placeholder(const Tensor& tensor);

  PythonFile& file_;
  IValue root_;
  std::string root_name_;
  std::string text_;
  std::vector<const ObjectBox*> all_;
  std::unordered_set<const ObjectBox*> seen_;
  std::unordered_map<const ObjectBox*, std::string> layers_;
  std::unordered_map<const ObjectBox*, std::string> paths_;  // of those that are made already
  std::vector<std::string> last_lines_;                      // of the root's __init__
  std::map<std::tuple<const void*, int64_t, std::string>, std::string> tensors_;
  std::unordered_map<const Class*, std::string> methods_;
  // Classes that are written: by what they are called and their methods; and by their __init__, too.
  std::map<std::pair<std::string, std::string>, std::string> bases_;
  std::map<std::tuple<std::string, std::string, std::string>, std::string> written_;
};

}  // namespace flambeau::script
