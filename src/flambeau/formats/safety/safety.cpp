#include "flambeau/formats/safety/safety.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/archive/pickle/globals.h"
#include "flambeau/archive/tar_reader.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/safety/pickle_uses.h"
#include "flambeau/formats/safety/safety_checker.h"
#include "flambeau/formats/safety/safety_program.h"
#include "flambeau/formats/shards/shard_index.h"
#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau {
namespace safety {
namespace {

bool is_torchscript(FileKind kind) {
  return kind == FileKind::kTorchScript || kind == FileKind::kTorchScriptMobile ||
         kind == FileKind::kTorchScriptLegacy;
}

// The ways that are meant for a file of this kind; the others give an error.
Openings meant_for(FileKind kind) {
  constexpr Openings kWeights = bit(Opening::kWeightsOnly) | bit(Opening::kFull);
  switch (kind) {
    case FileKind::kTorchSave:
    case FileKind::kTorchSaveLegacy:
      return kWeights;
    case FileKind::kTorchSaveTar:
      return bit(Opening::kFull);
    case FileKind::kTorchScript:
      return bit(Opening::kFull) | bit(Opening::kModel);
    case FileKind::kTorchScriptMobile:
    case FileKind::kTorchScriptLegacy:
    case FileKind::kMobileFlatBuffer:
    case FileKind::kPt2:
    case FileKind::kPt2OldLayout:
      return bit(Opening::kModel);
    default:
      return 0;
  }
}

std::string remedy_of(FileKind kind, Opening opening, Outcome outcome) {
  if (outcome == Outcome::kHarmless) return {};
  const bool has_tensors = file_kind_info(kind).has_weights;
  if (outcome == Outcome::kRefused) {
    if (opening == Opening::kModel) return "it is no file of this kind";
    return has_tensors ? "for its tensors alone: flambeau convert FILE weights.safetensors"
                       : "it is no file of this kind";
  }
  if (is_program_kind(kind)) return "have the model exported again by somebody you trust";
  if (has_tensors) {
    return "take its tensors out without running anything: flambeau convert FILE weights.safetensors";
  }
  return "ask for the weights as a safetensors file";
}

}  // namespace

void Checker::find(Severity severity, std::string topic, std::string_view record, std::string message,
                   Openings affects) {
  constexpr size_t kMost = 2000;
  if (report_.findings.size() < kMost) {
    report_.findings.push_back(
        {severity, std::move(topic), std::string(record), std::move(message), affects});
    return;
  }
  ++left_out_;
  worst_left_out_ = std::max(worst_left_out_, severity);
  affected_by_left_out_ |= affects;
}

SafetyReport Checker::run() {
  guarded("file", "", [&] {
    if (zip::looks_like_zip(mapping_->bytes())) {
      check_zip();
    } else {
      check_plain();
    }
  });
  if (left_out_ > 0) {
    report_.findings.push_back({worst_left_out_, "file", "",
                                fmt::format("{} more findings are not listed", left_out_),
                                affected_by_left_out_});
  }
  // Worst first, otherwise in the order of discovery.
  std::ranges::stable_sort(report_.findings, std::greater(), &Finding::severity);
  judge_openings();
  return std::move(report_);
}

Outcome Checker::outcome(Opening opening) const {
  Severity worst = Severity::kInfo;
  for (const Finding& finding : report_.findings) {
    if ((finding.affects & bit(opening)) != 0) worst = std::max(worst, finding.severity);
  }
  if (worst == Severity::kDanger) return Outcome::kDangerous;
  if (worst == Severity::kCaution) return Outcome::kCaution;
  const bool is_refused = opening == Opening::kWeightsOnly && is_refused_by_weights_only_;
  return (meant_for(report_.kind) & bit(opening)) == 0 || is_refused ? Outcome::kRefused : Outcome::kHarmless;
}

void Checker::judge_openings() {
  for (const Opening opening : {Opening::kWeightsOnly, Opening::kFull, Opening::kModel}) {
    const Outcome found = outcome(opening);
    report_.openings[static_cast<size_t>(opening)] = {found, remedy_of(report_.kind, opening, found)};
  }
}

// ---- files that are no zip archives

void Checker::check_plain() {
  report_.kind = recognize(mapping_);
  // From memory PyTorch looks for no tar, and unpickles one from its first byte on.
  if (is_payload_ && report_.kind == FileKind::kTorchSaveTar) report_.kind = FileKind::kPickle;
  check_format();
  const bool was_read_from_start =
      report_.kind == FileKind::kPickle || report_.kind == FileKind::kTorchSaveLegacy;
  if (!was_read_from_start) check_start();
  check_zip_behind();
}

void Checker::check_format() {
  const ByteSpan bytes = mapping_->bytes();
  const PickleVisitor visit = [this](const pickle::Tree& tree, std::string_view place) {
    judge(tree, place);
  };
  switch (report_.kind) {
    case FileKind::kPickle: {
      is_refused_by_weights_only_ = true;
      return check_pickle(bytes, "");
    }
    case FileKind::kTorchSaveLegacy: {
      TorchFile file = read_torch_legacy(mapping_, visit);
      check_rest(file.end, "the last storage");
      CheckpointBuilder::from_torch(report_.kind, std::move(file), mapping_->size());
      return;
    }
    case FileKind::kTorchSaveTar:
      return check_tar();
    case FileKind::kSafetensors:
    case FileKind::kNpy:
    case FileKind::kGguf:
      load_checkpoint(mapping_);
      return;
    case FileKind::kShardIndex:
      for (const std::string& file : read_shard_index(as_text(bytes)).files) {
        find(Severity::kCaution, "file", file,
             "this index leads to another file, which must be checked itself");
      }
      return;
    case FileKind::kProgramJson:
    case FileKind::kProgramText:
      for (const pt2::Model& model : pt2::load_package(mapping_).models) {
        check_program(model.program, [&](Severity severity, std::string message) {
          find(severity, "program", "", std::move(message), bit(Opening::kModel));
        });
      }
      return;
    case FileKind::kMobileFlatBuffer:
      return find(Severity::kCaution, "code", "", "mobile bytecode, which runs when the module is called");
    default: {
      const std::string_view foreign = foreign_kind(bytes);
      return find(Severity::kDanger, "file", "",
                  foreign.empty() ? std::string("the bytes fit no kind of file that Flambeau knows")
                                  : fmt::format("this is {}, not a file of PyTorch", foreign));
    }
  }
}

void Checker::check_rest(size_t end, std::string_view after) {
  if (end >= mapping_->size()) return;
  find(Severity::kCaution, "file", "",
       fmt::format("{} bytes follow {}, and nothing says what they are", mapping_->size() - end, after));
}

void Checker::check_tar() {
  const ByteSpan bytes = mapping_->bytes();
  // Python's tar reader lets links and extended headers change names and contents.
  for (const tar::Member& member : tar::read_other_members(bytes)) {
    find(Severity::kDanger, "tar", member.name,
         "is no plain file: it could pass for another member, which torch.save never wrote");
  }
  for (const tar::Member& member : tar::read_members(bytes)) {
    const bool is_known = member.name == "sys_info" || member.name == "pickle" || member.name == "storages" ||
                          member.name == "tensors";
    if (is_known) continue;
    find(Severity::kCaution, "tar", member.name,
         "is no member that torch.save wrote, and nothing says what it is");
  }
  const PickleVisitor visit = [this](const pickle::Tree& tree, std::string_view place) {
    judge(tree, place);
  };
  CheckpointBuilder::from_torch(report_.kind, read_torch_tar(mapping_, visit), mapping_->size());
}

void Checker::check_start() {
  const ByteSpan bytes = mapping_->bytes();
  try {
    judge(pickle::parse(bytes, nullptr, limits_for(bytes)).tree, "");
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    const size_t found_before = report_.findings.size();
    judge_beginning(bytes, error, "");
    if (report_.findings.size() > found_before) return;
    // Python stops at nearly all places where our reader does. Where it may not, nobody knows what follows.
    const std::string_view reason = error.message();
    const bool may_go_on = error.code() == ErrorCode::kLimit || reason.ends_with(" was expected") ||
                           reason.ends_with("a state before");
    if (may_go_on) {
      find(Severity::kDanger, "pickle", "", "begins like a pickle that is made to break its readers");
    }
  }
}

void Checker::check_zip_behind() {
  // The end record of a zip archive, with a comment that reaches to the end of the file.
  const ByteSpan bytes = mapping_->bytes();
  const size_t last = bytes.size() < 22 ? 0 : bytes.size() - 21;
  const size_t first = last > (1U << 16) ? last - (1U << 16) : 0;
  for (size_t at = last; at-- > first;) {
    if (bytes[at] != 'P' || as_text(bytes.subspan(at, 4)) != "PK\x05\x06") continue;
    const size_t comment = bytes[at + 20] | static_cast<size_t>(bytes[at + 21]) << 8;
    if (at + 22 + comment != bytes.size()) continue;
    return find(Severity::kDanger, "zip", "",
                "a zip archive lies behind other bytes: readers differ in which of the two they open");
  }
}

// ---- pickles

// What inflated may take memory by the size of the file, not by what it inflated to.
pickle::Limits Checker::limits_for(ByteSpan bytes) const {
  pickle::Limits limits;
  limits.fixed_bytes += limits.bytes_per_input_byte * std::min<uint64_t>(bytes.size(), mapping_->size());
  limits.bytes_per_input_byte = 0;
  return limits;
}

// All pickles of a row: PyTorch reads one after the other from the same bytes.
void Checker::check_pickle(ByteSpan bytes, std::string_view record) {
  size_t count = 0;
  while (!bytes.empty()) {
    try {
      const pickle::Parsed parsed = pickle::parse(bytes, nullptr, limits_for(bytes));
      judge(parsed.tree, record);
      bytes = bytes.subspan(parsed.consumed);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      if (count == 0) {
        find(Severity::kDanger, "pickle", record, error.what());
      } else {
        find(Severity::kCaution, "pickle", record,
             fmt::format("{} bytes follow the pickle, and nothing says what they are", bytes.size()));
      }
      return judge_beginning(bytes, error, record);
    }
    if (++count == 2) {
      find(Severity::kCaution, "pickle", record,
           "another pickle follows the first, as in no file of torch.save");
    }
    if (count == 1000)
      return find(Severity::kDanger, "pickle", record, "more than 1000 pickles follow each other");
  }
  if (count == 0) find(Severity::kDanger, "pickle", record, "an empty pickle");
}

// Python acts on a pickle while it reads: what stands before the place where it breaks still happens.
void Checker::judge_beginning(ByteSpan bytes, const Error& error, std::string_view record) {
  size_t broken_at = 0;
  for (const Location& location : error.locations()) {
    if (location.kind == "byte") broken_at = std::stoull(location.value);
  }
  if (broken_at < 4) return;  // no name fits in there
  // Ends the pickle at that place; what follows stays as it is, for frames count their bytes.
  const ByteSpan kept = bytes.first(std::min<size_t>(bytes.size(), broken_at + (16U << 20)));
  std::vector<uint8_t> beginning(kept.begin(), kept.end());
  beginning.resize(std::max(beginning.size(), broken_at + 2));
  beginning[broken_at] = 'N';
  beginning[broken_at + 1] = '.';
  try {
    judge(pickle::parse(beginning, nullptr, limits_for(beginning)).tree, record);
  } catch (const Error&) {
    find(Severity::kDanger, "pickle", record, "begins like a pickle that is made to break its readers");
  }
}

// TorchScript finds the classes of its pickles in the archive's own code, whatever their names are.
GlobalVerdict Checker::verdict_on(const pickle::Node::GlobalName& name) const {
  const GlobalVerdict verdict = judge_global(name, is_torchscript(report_.kind));
  if (verdict != GlobalVerdict::kUnknown || !archive_ || !is_torchscript(report_.kind)) return verdict;
  std::string record = fmt::format("code/{}.py", name.module);
  std::replace(record.begin(), record.end() - 3, '.', '/');
  return archive_->has(record) ? GlobalVerdict::kTorchScript : verdict;
}

Openings Checker::unpicklers() const {
  return is_torchscript(report_.kind) || is_program_kind(report_.kind)
             ? static_cast<Openings>(bit(Opening::kFull) | bit(Opening::kModel))
             : bit(Opening::kFull);
}

void Checker::judge(const pickle::Tree& tree, std::string_view record) {
  constexpr size_t kMostNames = 1000;  // a file with more is told by them
  ++report_.pickles_read;
  size_t unseen = 0;
  for (const pickle::GlobalUse& used : pickle::list_globals(tree)) {
    const GlobalVerdict verdict = verdict_on(used.name);
    if (!is_allowed_by_weights_only(used.name)) is_refused_by_weights_only_ = true;
    if (verdict == GlobalVerdict::kData || verdict == GlobalVerdict::kTorchScript) continue;
    if (seen_.size() >= kMostNames) {
      ++unseen;
      continue;
    }
    const std::string name = printable(used.name.dotted());
    if (!seen_.emplace(record, name).second) continue;
    const std::string_view use = used.called ? "import and call" : "import";
    if (verdict == GlobalVerdict::kDangerous) {
      find(Severity::kDanger, "pickle", record,
           fmt::format("unpickling would {} {}, which can run anything", use, name), unpicklers());
    } else if (verdict == GlobalVerdict::kUnknown) {
      find(Severity::kDanger, "pickle", record,
           fmt::format("unpickling would {} {}, which is not on the list of names that only build data", use,
                       name),
           unpicklers());
    } else {
      find(Severity::kInfo, "pickle", record, fmt::format("holds NumPy values ({})", name));
    }
  }
  if (unseen > 0) {
    find(Severity::kDanger, "pickle", record, fmt::format("unpickling would import {} more names", unseen),
         unpicklers());
  }
  if (is_torchscript(report_.kind)) return;  // another unpickler reads these, in which names do nothing
  for (std::string& misuse : find_misuses(tree)) {
    find(Severity::kDanger, "pickle", record, fmt::format("unpickling {}", misuse));
  }
}

}  // namespace safety

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kCaution:
      return "caution";
    case Severity::kDanger:
      return "danger";
  }
  return "info";
}

std::string_view opening_name(Opening opening) {
  switch (opening) {
    case Opening::kWeightsOnly:
      return "torch.load(weights_only=True)";
    case Opening::kFull:
      return "torch.load(weights_only=False)";
    case Opening::kModel:
      return "torch.export.load / torch.jit.load";
  }
  return "";
}

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kHarmless:
      return "harmless";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kCaution:
      return "caution";
    case Outcome::kDangerous:
      return "dangerous";
  }
  return "";
}

bool SafetyReport::is_harmless() const {
  return std::ranges::all_of(findings,
                             [](const Finding& finding) { return finding.severity == Severity::kInfo; });
}

SafetyReport check_file(const std::string& path, Progress& progress) {
  return check_file(open_model_file(path), progress);
}

SafetyReport check_file(const std::shared_ptr<Mapping>& mapping, Progress& progress) {
  return mapping->reading([&] { return safety::Checker(mapping, progress).run(); });
}

}  // namespace flambeau
