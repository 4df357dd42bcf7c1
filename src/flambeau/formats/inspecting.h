// An inspection while it is made: what a format's own part of it can use. Internal.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/formats/inspect.h"

namespace flambeau {

class Inspecting {
 public:
  explicit Inspecting(const std::shared_ptr<Mapping>& mapping);

  const std::shared_ptr<Mapping>& mapping() const { return mapping_; }
  // Of a file that is a zip archive.
  const RecordArchive& archive() const { return *file_.archive; }
  Inspection& result() { return result_; }

  // The names that a pickle mentions.
  void add_globals(const pickle::Tree& tree);
  // The version and byte order that archives of PyTorch have records for. Throws Error(kCorrupt).
  void add_archive_version();
  void add_byte_order();

  Inspection finish() &&;

 private:
  void add_checkpoint();
  void add_pickles();
  // The files that an index names, as if they were the records of an archive.
  void add_files_beside(std::span<const std::string> names);

  const std::shared_ptr<Mapping>& mapping_;
  RecognizedFile file_;
  Inspection result_;
  std::set<std::string> globals_;
};

}  // namespace flambeau
