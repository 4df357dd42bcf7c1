// What names mean that a function's text does not define itself: the archive's code, or the rest of a user's
// text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/script/compiler/meaning.h"
#include "flambeau/script/source.h"

namespace flambeau::script::syntax {
class Diagnostics;
}

namespace flambeau::script::compiler {

class Emitter;

class OuterNames {
 public:
  virtual ~OuterNames() = default;

  // Nothing for an unknown name. May put constants into the emitter's graph.
  virtual std::optional<Meaning> find(Emitter& emitter, std::string_view name,
                                      const SourceRange& range) const = 0;
  // The class of a name as it is written: "__torch__.M", "MyClass". Null when there is none.
  virtual std::shared_ptr<Class> find_class(std::string_view name) const = 0;
  // Likewise a function: "__torch__.f".
  virtual std::shared_ptr<Function> find_function(std::string_view name) const = 0;
  // What CONSTANTS.c<index> is. Throws Error located at the range when there is none.
  virtual IValue constant(std::string_view name, const SourceRange& range) const = 0;
  // Of the archive; nothing for text of today.
  virtual std::optional<int64_t> version() const = 0;
  // False for TorchScript's own functions: they call operators alone.
  virtual bool uses_scripted_operators() const { return true; }
  // A type's name with what imports say of its first part: "Opt" may be "typing.Optional".
  virtual std::string without_aliases(std::string name) const { return name; }
  // What could have been meant where a name is not known.
  virtual std::vector<std::string> suggestions() const { return {}; }
  // Where errors are gathered, so that compiling goes on behind a statement; null: the first one is thrown.
  virtual syntax::Diagnostics* diagnostics() const { return nullptr; }
};

}  // namespace flambeau::script::compiler
