#include "flambeau/formats/safety/safety.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/archive/pickle/globals.h"
#include "flambeau/formats/safety/pickle_tensors.h"
#include "flambeau/formats/safety/pickle_uses.h"
#include "flambeau/formats/safety/safety_checker.h"
#include "flambeau/formats/safety/safety_program.h"

namespace flambeau {
namespace safety {
namespace {

std::string remedy_of(const Format& format, Opening opening, Outcome outcome) {
  if (outcome == Outcome::kHarmless) return {};
  const bool has_tensors = format.has_weights();
  if (outcome == Outcome::kRefused) {
    if (opening == Opening::kModel) return "it is no file of this kind";
    return has_tensors ? "for its tensors alone: flambeau convert FILE weights.safetensors"
                       : "it is no file of this kind";
  }
  if (format.has_programs()) return "have the model exported again by somebody you trust";
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
  return (format().openings & bit(opening)) == 0 || is_refused ? Outcome::kRefused : Outcome::kHarmless;
}

void Checker::judge_openings() {
  for (const Opening opening : {Opening::kWeightsOnly, Opening::kFull, Opening::kModel}) {
    const Outcome found = outcome(opening);
    report_.openings[static_cast<size_t>(opening)] = {found, remedy_of(format(), opening, found)};
  }
}

// ---- files that are no zip archives

void Checker::check_plain() {
  report_.kind = recognize(mapping_);
  // From memory PyTorch looks for no tar, and unpickles one from its first byte on.
  if (is_payload_ && report_.kind == FileKind::kTorchSaveTar) report_.kind = FileKind::kPickle;
  if (format().check != nullptr) {
    format().check(*this);
  } else {
    check_unknown();
  }
  if (!was_read_from_start_) check_start();
  check_zip_behind();
}

void Checker::check_unknown() {
  const std::string_view foreign = foreign_kind(bytes());
  if (report_.kind != FileKind::kUnknown) {
    find(Severity::kDanger, "file", "", fmt::format("nobody knows what is in {}", format().description));
  } else if (foreign.empty()) {
    find(Severity::kDanger, "file", "", "the bytes fit no kind of file that Flambeau knows");
  } else {
    find(Severity::kDanger, "file", "", fmt::format("this is {}, not a file of PyTorch", foreign));
  }
}

void Checker::check_rest(size_t end, std::string_view after) {
  if (end >= mapping_->size()) return;
  find(Severity::kCaution, "file", "",
       fmt::format("{} bytes follow {}, and nothing says what they are", mapping_->size() - end, after));
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
  if (std::ranges::find(own_names_, name.dotted()) != own_names_.end()) return GlobalVerdict::kData;
  const GlobalVerdict verdict = judge_global(name, format().is_torchscript);
  if (verdict != GlobalVerdict::kUnknown || !archive_ || !format().is_torchscript) return verdict;
  std::string record = fmt::format("code/{}.py", name.module);
  std::replace(record.begin(), record.end() - 3, '.', '/');
  return archive_->has(record) ? GlobalVerdict::kTorchScript : verdict;
}

Openings Checker::unpicklers() const {
  return format().is_torchscript || format().has_programs()
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
  if (format().is_torchscript) return;  // another unpickler reads these, in which names do nothing
  // Picklers number what they keep; a gap stems from a tool that left numbers out.
  if (tree.highest_memo_index() > (1U << 20) + 4 * tree.node_count()) {
    find(Severity::kDanger, "pickle", record,
         fmt::format("unpickling makes room for {} values, of which the file has {}",
                     tree.highest_memo_index(), tree.node_count()),
         unpicklers());
  }
  for (std::string& misuse : find_misuses(tree)) {
    find(Severity::kDanger, "pickle", record, fmt::format("unpickling {}", misuse));
  }
}

void Checker::judge_tensors(const TorchFile& file, std::string_view record) {
  for (std::string& problem : find_false_tensors(file, mapping_->size())) {
    find(Severity::kDanger, "tensors", record, std::move(problem));
  }
}

void Checker::check_programs(const pt2::Package& package, std::string (*record)(const pt2::Model& model)) {
  for (const pt2::Model& model : package.models) {
    check_program(model.program, [&](Severity severity, std::string message) {
      find(severity, "program", record(model), std::move(message), bit(Opening::kModel));
    });
  }
}

void Checker::check_files_beside(std::span<const std::string> names) {
  for (const std::string& name : names) {
    find(Severity::kCaution, "file", name, "this index leads to another file, which must be checked itself");
  }
}

void check_bare_pickle(Checker& checker) {
  checker.set_refused_by_weights_only();
  checker.set_read_from_start();
  checker.check_pickle(checker.bytes(), "");
}

void check_by_opening(Checker& checker) { load_checkpoint(checker.file(), checker.mapping()); }

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
