// Breaks every given file in many ways and does to each what the command could do (see tests/hostile/). A
// crash, a hang, too much memory, or an exception that is no Error is a finding; its bytes are kept.
//   mutate [--count N] [--seed S] [--jobs J] [--seconds T] [--total T] [--findings FOLDER] FILE|FOLDER...
//       --seconds: for one mutation; --total: for all, of which then as many of each file are done as fit
//   mutate --replay FILE...    without mutating, in this process: for a debugger
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <new>

#include "hostile/exercise.h"
#include "hostile/heap_meter.h"
#include "hostile/mutator.h"

#include "flambeau/base/files/mapping.h"

namespace {

using namespace flambeau;           // NOLINT: a test program
using namespace flambeau::hostile;  // NOLINT
namespace fs = std::filesystem;

constexpr size_t kCodes = static_cast<size_t>(ErrorCode::kInternal) + 1;

struct Options {
  uint64_t count = 2000;
  uint64_t seed = 1;
  int jobs = 1;
  int seconds = 5;
  int total = 0;  // seconds; 0 for no limit
  fs::path findings = "mutate-findings";
  bool replay = false;
  std::vector<std::string> paths;
};

// What one process found out; in memory that it shares with the parent, which outlives a crash.
struct Tally {
  std::atomic<uint64_t> current;  // the mutation being worked on
  uint64_t done;
  uint64_t opened;
  uint64_t refused[kCodes];
  uint64_t findings;
  double worst_seconds;
  uint64_t worst_time_at;
  double worst_memory;  // in parts of what is allowed
  uint64_t worst_peak;
  uint64_t worst_memory_at;
};

uint64_t allowed_memory(size_t file_size) { return (64ULL << 20) + 16 * file_size; }

bool is_input(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending != ".tsv" && ending != ".txt" && ending != ".py" && ending != ".md";
}

Input read_input(const fs::path& path, std::string name) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + " cannot be read");
  return {std::move(name), Bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>())};
}

std::vector<Input> read_inputs(const std::vector<std::string>& paths) {
  std::vector<Input> inputs;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      inputs.push_back(read_input(path, fs::path(path).filename().string()));
      continue;
    }
    // Named by the folder's inside: the same mutations wherever the folder is.
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (!entry.is_regular_file() || !is_input(entry.path())) continue;
      inputs.push_back(read_input(entry.path(), fs::relative(entry.path(), path).string()));
    }
  }
  std::ranges::sort(inputs, {}, &Input::name);
  return inputs;
}

struct Outcome {
  std::optional<ErrorCode> refused;
  double seconds = 0;
  uint64_t peak = 0;
  std::string problem;  // empty when all is well
};

// Within `seconds`, or the process ends with SIGALRM.
Outcome run_once(Bytes bytes, int seconds) {
  Outcome outcome;
  const size_t size = bytes.size();
  itimerval limit{};
  limit.it_value.tv_sec = seconds;
  setitimer(ITIMER_REAL, &limit, nullptr);
  HeapMeter::reset();
  const auto start = std::chrono::steady_clock::now();
  try {
    outcome.refused = exercise(Mapping::from_buffer(std::move(bytes)));
  } catch (const std::bad_alloc&) {
    outcome.problem = "std::bad_alloc";
  } catch (const std::exception& error) {
    outcome.problem = fmt::format("an exception that is no Error: {}", error.what());
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.peak = HeapMeter::peak();
  setitimer(ITIMER_REAL, nullptr, nullptr);
  if (outcome.problem.empty() && outcome.peak > allowed_memory(size)) {
    outcome.problem = fmt::format("{} bytes of memory for a file of {}, {} are allowed", outcome.peak, size,
                                  allowed_memory(size));
  }
  return outcome;
}

// What one process does at a time: some mutations of a file.
struct Piece {
  size_t input;
  uint64_t first;
  uint64_t end;
};
constexpr uint64_t kMutationsOfAPiece = 50;

class Campaign {
 public:
  Campaign(const Options& options, Mutator mutator) : options_(options), mutator_(std::move(mutator)) {
    for (uint64_t first = 0; first < options_.count; first += kMutationsOfAPiece) {
      const uint64_t end = std::min(first + kMutationsOfAPiece, options_.count);
      for (size_t input = 0; input < mutator_.inputs().size(); ++input)
        pieces_.push_back({input, first, end});
    }
    const size_t size = sizeof(Tally) * std::max<size_t>(1, pieces_.size());
    void* shared = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::bad_alloc();
    tallies_ = static_cast<Tally*>(shared);
  }

  int run() {
    const auto start = std::chrono::steady_clock::now();
    const auto passed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    for (size_t piece = 0; piece < pieces_.size(); ++piece) {
      if (running_.size() == static_cast<size_t>(options_.jobs)) wait_for_one();
      if (options_.total > 0 && passed() > options_.total) break;
      begin(piece, pieces_[piece].first);
    }
    while (!running_.empty()) wait_for_one();
    return summarize(passed());
  }

 private:
  const std::string& name_of(size_t piece) const { return mutator_.inputs()[pieces_[piece].input].name; }
  fs::path finding_path(size_t piece, uint64_t number) const {
    std::string name = name_of(piece);
    std::ranges::replace(name, '/', '+');
    return options_.findings / fmt::format("{}.seed{}.{}", name, options_.seed, number);
  }
  fs::path log_path(size_t piece) const {
    return finding_path(piece, pieces_[piece].first).string() + ".log";
  }

  void keep(size_t piece, uint64_t number, std::string_view problem) {
    const fs::path path = finding_path(piece, number);
    fmt::print("FINDING {}, mutation {}: {}\n  kept as {}\n", name_of(piece), number, problem, path.string());
    std::fflush(stdout);
    const Bytes bytes = mutator_.mutate(pieces_[piece].input, number);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    ++tallies_[piece].findings;
  }

  void begin(size_t piece, uint64_t number) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process can be started");
    if (child > 0) {
      running_[child] = piece;
      return;
    }
    // The sanitizers report on stderr.
    if (std::freopen(log_path(piece).c_str(), "w", stderr) == nullptr) std::abort();
    work(piece, number);
    std::exit(0);  // looks for leaks
  }

  void work(size_t piece, uint64_t number) {
    Tally& tally = tallies_[piece];
    for (; number < pieces_[piece].end; ++number) {
      tally.current = number;
      Bytes bytes = mutator_.mutate(pieces_[piece].input, number);
      const size_t size = bytes.size();
      const Outcome outcome = run_once(std::move(bytes), options_.seconds);
      ++tally.done;
      if (!outcome.problem.empty()) keep(piece, number, outcome.problem);
      ++(outcome.refused ? tally.refused[static_cast<size_t>(*outcome.refused)] : tally.opened);
      if (outcome.seconds > tally.worst_seconds) {
        tally.worst_seconds = outcome.seconds;
        tally.worst_time_at = number;
      }
      const double memory = static_cast<double>(outcome.peak) / static_cast<double>(allowed_memory(size));
      if (memory > tally.worst_memory) {
        tally.worst_memory = memory;
        tally.worst_peak = outcome.peak;
        tally.worst_memory_at = number;
      }
    }
    tally.current = pieces_[piece].end;
  }

  // Waits for a process; one that died leaves a finding, and another goes on behind it.
  void wait_for_one() {
    int status = 0;
    const pid_t child = wait(&status);
    const auto found = running_.find(child);
    if (found == running_.end()) throw std::runtime_error("a process got lost");
    const size_t piece = found->second;
    running_.erase(found);
    const uint64_t number = tallies_[piece].current;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      fs::remove(log_path(piece));
      return;
    }
    std::string problem = fmt::format("ended with exit code {}", WEXITSTATUS(status));
    if (WIFSIGNALED(status)) problem = fmt::format("ended with signal {}", WTERMSIG(status));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
      problem = fmt::format("took more than {} s", options_.seconds);
    if (number >= pieces_[piece].end) problem = "a leak: " + problem;
    keep(piece, number, problem);
    const fs::path log = finding_path(piece, number).string() + ".log";
    if (log != log_path(piece)) fs::rename(log_path(piece), log);
    if (number < pieces_[piece].end) begin(piece, number + 1);
  }

  int summarize(double seconds) const {
    Tally total{};
    size_t slowest = 0, largest = 0;
    for (size_t piece = 0; piece < pieces_.size(); ++piece) {
      const Tally& tally = tallies_[piece];
      total.done += tally.done;
      total.opened += tally.opened;
      total.findings += tally.findings;
      for (size_t code = 0; code < kCodes; ++code) total.refused[code] += tally.refused[code];
      if (tally.worst_seconds > tallies_[slowest].worst_seconds) slowest = piece;
      if (tally.worst_memory > tallies_[largest].worst_memory) largest = piece;
    }
    fmt::print("files      {}\nmutations  {} in {:.0f} s, seed {}\nopened     {}\n", mutator_.inputs().size(),
               total.done, seconds, options_.seed, total.opened);
    for (size_t code = 0; code < kCodes; ++code) {
      if (total.refused[code] == 0) continue;
      fmt::print("refused    {} as {}\n", total.refused[code], error_code_name(static_cast<ErrorCode>(code)));
    }
    if (!pieces_.empty()) {
      const Tally& slow = tallies_[slowest];
      fmt::print("slowest    {:.3f} s ({}, mutation {})\n", slow.worst_seconds, name_of(slowest),
                 slow.worst_time_at);
      const Tally& large = tallies_[largest];
      if (HeapMeter::is_available()) {
        fmt::print("memory     {:.1f} MB at most, {:.0f}% of 64 MB + 16 x file ({}, mutation {})\n",
                   static_cast<double>(large.worst_peak) / (1 << 20), large.worst_memory * 100,
                   name_of(largest), large.worst_memory_at);
      } else {
        fmt::print("memory     not measured (build with the address sanitizer)\n");
      }
    }
    fmt::print("findings   {}\n", total.findings);
    return total.findings == 0 ? 0 : 1;
  }

  const Options& options_;
  Mutator mutator_;
  std::vector<Piece> pieces_;
  Tally* tallies_ = nullptr;
  std::map<pid_t, size_t> running_;
};

int replay(const Options& options) {
  int exit_code = 0;
  for (const std::string& path : options.paths) {
    Input input = read_input(path, path);
    const size_t size = input.bytes.size();
    const Outcome outcome = run_once(std::move(input.bytes), options.seconds);
    fmt::print("{}: {} bytes, {}, {:.3f} s, {:.1f} MB of {:.1f} MB{}{}\n", path, size,
               outcome.refused ? error_code_name(*outcome.refused) : "opened", outcome.seconds,
               static_cast<double>(outcome.peak) / (1 << 20),
               static_cast<double>(allowed_memory(size)) / (1 << 20), outcome.problem.empty() ? "" : ": ",
               outcome.problem);
    if (!outcome.problem.empty()) exit_code = 1;
  }
  return exit_code;
}

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto value = [&] {
      if (i + 1 == argc) throw std::runtime_error(fmt::format("{} needs a value", name));
      return std::string(argv[++i]);
    };
    if (name == "--count") {
      options.count = std::stoull(value());
    } else if (name == "--seed") {
      options.seed = std::stoull(value());
    } else if (name == "--total") {
      options.total = std::max(0, std::stoi(value()));
    } else if (name == "--jobs") {
      options.jobs = std::max(1, std::stoi(value()));
    } else if (name == "--seconds") {
      options.seconds = std::stoi(value());
    } else if (name == "--findings") {
      options.findings = value();
    } else if (name == "--replay") {
      options.replay = true;
    } else if (name.starts_with("--")) {
      throw std::runtime_error(fmt::format("unknown option {}", name));
    } else {
      options.paths.emplace_back(name);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse_options(argc, argv);
    if (options.paths.empty()) throw std::runtime_error("no files are given");
    if (options.replay) return replay(options);
    fs::create_directories(options.findings);
    return Campaign(options, Mutator(read_inputs(options.paths), options.seed)).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "mutate: {}\n", error.what());
    return 2;
  }
}
