#include "hostile/exercise_program.h"

#include <stdexcept>

#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/work.h"
#include "flambeau/formats/pt2/example_inputs.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/pt2/program_json.h"
#include "flambeau/graph/report/canonical.h"
#include "flambeau/graph/report/compare.h"
#include "flambeau/graph/report/dot.h"
#include "flambeau/graph/report/summary.h"
#include "flambeau/graph/text/parse.h"
#include "flambeau/graph/text/print.h"
#include "flambeau/graph/verify/verify.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/passes/passes.h"

namespace flambeau::hostile {
namespace {

using graph::ExportedProgram;
using pt2::Package;
using pt2::PackageLayout;

// Keeps what is written, up to some times the file: more of it is an amplification.
class CappedSink final : public ByteSink {
 public:
  explicit CappedSink(uint64_t most) : most_(most) {}
  void write(ByteSpan bytes) override {
    if (bytes.size() > most_ - memory_.position())
      throw std::logic_error("a small file is written as a large one");
    memory_.write(bytes);
  }
  uint64_t position() const override { return memory_.position(); }
  std::vector<uint8_t> take() { return memory_.take(); }

 private:
  MemorySink memory_;
  uint64_t most_;
};

// An Error is fine, unless it says that the caller or the library is at fault: neither is a file's doing.
template <typename Body>
std::optional<ErrorCode> attempt_program(Body&& body) {
  try {
    body();
    return std::nullopt;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal || error.code() == ErrorCode::kInvalidArgument)
      throw std::logic_error(std::string("the wrong kind of error: ") + error.what());
    return error.code();
  }
}

std::string json_of(const Package& package) {
  std::string all;
  for (const pt2::Model& model : package.models) (all += pt2::write_program(model.program)) += '\n';
  return all;
}

// The text form says everything.
void print_and_parse(const ExportedProgram& program, std::string_view json) {
  const std::string text = graph::to_text(program, {.lossless = true});
  try {
    if (pt2::write_program(graph::parse_text(text)) != json)
      throw std::logic_error("the text form parses to another program");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kLimit)
      throw std::logic_error(std::string("the text form cannot be parsed: ") + error.what());
  }
}

// What is written can be read, and is the same program.
void write_and_read(const Package& package, PackageLayout layout, uint64_t file_size) {
  CappedSink sink((1U << 20) + 16 * file_size);
  if (attempt_program([&] { pt2::write_package(sink, package, layout); })) return;
  try {
    const Package again = pt2::load_package(Mapping::from_buffer(sink.take()));
    if (json_of(again) != json_of(package)) throw std::logic_error("what was written is another program");
    for (size_t i = 0; i < again.models.size() && layout != PackageLayout::kJson; ++i) {
      const ExportedProgram& first = package.models[i].program;
      const ExportedProgram& second = again.models[i].program;
      if (first.state_dict.size() != second.state_dict.size() ||
          first.constants.size() != second.constants.size() ||
          first.objects.size() != second.objects.size()) {
        throw std::logic_error("what was written has other weights");
      }
    }
  } catch (const Error& error) {
    throw std::logic_error(std::string("what was written cannot be read: ") + error.what());
  }
}

// As 'flambeau convert --simplify' does. A valid program stays one.
void simplify(const ExportedProgram& program, bool is_valid) {
  static const ops::Library library;
  ExportedProgram simple = program.clone();
  const WorkScope scope({.seconds = 2, .bytes = 32U << 20});
  if (attempt_program([&] { passes::simplify(simple, library); })) return;
  simple.graph().for_each_graph([](const graph::Graph& graph) { graph.lint(); });
  print_and_parse(simple, pt2::write_program(simple));
  if (!is_valid) return;
  if (const std::vector<graph::Finding> found = graph::verify(simple); !found.empty())
    throw std::logic_error("simplified it is not valid: " + found.front().to_string());
}

}  // namespace

void exercise_program(const ExportedProgram& program) {
  program.graph().for_each_graph([](const graph::Graph& graph) { graph.lint(); });
  const bool is_valid = graph::verify(program).empty();
  graph::summarize(program);
  graph::to_text(program);
  graph::to_dot(program, {.modules = true});
  if (!graph::compare_programs(program, program).differences.empty())
    throw std::logic_error("a program differs from itself");
  const std::string json = pt2::write_program(program);
  if (pt2::write_program(program.clone()) != json) throw std::logic_error("a copy is another program");
  print_and_parse(program, json);
  attempt_program([&] {
    const ExportedProgram canonical = graph::canonicalize(program);
    const std::string once = pt2::write_program(canonical);
    pt2::Notes notes;
    if (pt2::write_program(pt2::read_program(once, notes)) != once)
      throw std::logic_error("the canonical form reads as another program");
  });
  simplify(program, is_valid);
  attempt_program([&] { pt2::read_example_inputs(program); });
  attempt_program([&] {
    ExportedProgram older = program.clone();
    pt2::Notes notes;
    pt2::set_schema(older, {8, 5}, notes);
    const std::string text = pt2::write_program(older);
    if (pt2::write_program(pt2::read_program(text, notes)) != text)
      throw std::logic_error("the older form reads as another program");
  });
}

std::optional<ErrorCode> exercise_package(const std::shared_ptr<Mapping>& mapping) {
  Package package;
  const std::optional<ErrorCode> refused = attempt_program([&] { package = pt2::load_package(mapping); });
  if (refused) return refused;
  for (const pt2::Model& model : package.models) exercise_program(model.program);
  const bool has_weights = package.layout != PackageLayout::kJson;
  if (has_weights) write_and_read(package, PackageLayout::kArchive, mapping->size());
  if (has_weights) write_and_read(package, PackageLayout::kZip, mapping->size());
  write_and_read(package, PackageLayout::kJson, mapping->size());
  return std::nullopt;
}

std::optional<ErrorCode> exercise_program_json(std::string_view text) {
  ExportedProgram program;
  pt2::Notes notes;
  const std::optional<ErrorCode> refused = attempt_program([&] { program = pt2::read_program(text, notes); });
  if (refused) return refused;
  const std::string written = pt2::write_program(program);
  try {
    if (pt2::write_program(pt2::read_program(written, notes)) != written)
      throw std::logic_error("what was written reads as another program");
  } catch (const Error& error) {
    throw std::logic_error(std::string("what was written cannot be read: ") + error.what());
  }
  exercise_program(program);
  return std::nullopt;
}

}  // namespace flambeau::hostile
