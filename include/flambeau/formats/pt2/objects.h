// Objects of classes that only their authors know: who has the class registers how to read and write it, and
// everybody else keeps the bytes.
#pragma once

#include <any>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/base/bytes.h"
#include "flambeau/graph/program.h"

namespace flambeau::pt2 {

class ObjectHandler {
 public:
  virtual ~ObjectHandler() = default;
  // The bytes come from a file, perhaps a stranger's: throw Error(kCorrupt) for what is wrong with them.
  virtual std::any read(ByteSpan bytes) const = 0;
  // What read() makes the same object of.
  virtual std::vector<uint8_t> write(const std::any& object) const = 0;
};

// Handlers by the full name of the class, as the graph states it: "__torch__.torch.classes.my.Cache". A
// value: whoever needs it passes it on.
class ObjectHandlers {
 public:
  // Throws Error(kInvalidArgument) when the class has one already.
  void add(const std::string& class_name, std::shared_ptr<const ObjectHandler> handler);
  const ObjectHandler* find(std::string_view class_name) const;  // null when there is none

 private:
  std::map<std::string, std::shared_ptr<const ObjectHandler>, std::less<>> handlers_;
};

// The class of one of program.objects, as the signature or an argument states it; empty when nothing does.
std::string class_of_object(const graph::ExportedProgram& program, std::string_view name);

// Throws Error(kNotFound) when there is no such object, Error(kUnsupported) when its class has no handler,
// and what the handler throws; located at the object.
std::any read_object(const graph::ExportedProgram& program, std::string_view name,
                     const ObjectHandlers& handlers);
void write_object(graph::ExportedProgram& program, std::string_view name, const std::any& object,
                  const ObjectHandlers& handlers);

}  // namespace flambeau::pt2
