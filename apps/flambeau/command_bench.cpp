// flambeau bench: how long an exported program takes, run after run, alone or beside another one.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "commands.h"
#include "flambeau/error.h"
#include "flambeau/script.h"
#include "model_inputs.h"
#include "profile_table.h"
#include "progress_bar.h"
#include "reports.h"
#include "run_watch.h"
#include "script/script_files.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

struct BenchOptions {
  ModelOptions model;
  std::string method = "forward";
  std::string compare;
  uint64_t runs = 0;  // 0: as many as fit into `seconds`
  double seconds = 3;
  uint64_t warmup = 3;
  bool profile = false;
  uint64_t limit = 20;
};

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;

// A line of /proc/self/status in bytes; 0 where the system has no such file.
uint64_t process_bytes(std::string_view field) {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  char line[256];
  uint64_t bytes = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::string_view(line).starts_with(field))
      bytes = std::strtoull(line + field.size() + 1, nullptr, 10) * 1024;
  }
  std::fclose(file);
  return bytes;
}

// One program under measurement.
struct Subject {
  Subject(const std::string& path, const BenchOptions& options, const CommonOptions& common)
      : file(path), memory_before(process_bytes("VmRSS")) {
    const ModelSource source = open_source(path);
    const auto start = Clock::now();
    if (source.is_script) {
      script.emplace(open_script(source, common, true, options.model.operators));
      load_time = Clock::now() - start;
      script->manual_seed(options.model.seed);
      arguments = script_arguments(options.model.inputs, options.model.seed);
      method = options.method;
      threads = ThreadPool(common.threads).threads();
      return;
    }
    program.emplace(open_program(path, options.model, common, source.bytes));
    load_time = Clock::now() - start;
    program->manual_seed(options.model.seed);
    inputs = with_model(file, [&] { return gather_inputs(*program, options.model); });
    threads = program->pool().threads();
  }

  Nanoseconds run(Profile* to = nullptr) {
    if (script) {
      return with_model(file, [&] {
        const auto start = Clock::now();
        script->run_method(method, arguments.positional, arguments.keywords, script_run_options());
        return Nanoseconds(Clock::now() - start);
      });
    }
    RunOptions options;
    options.profile = to;
    return with_model(file, [&] {
      const auto start = Clock::now();
      const std::vector<Value> outputs = program->run(inputs, options);
      return Nanoseconds(Clock::now() - start);
    });
  }

  // The nearest-rank percentile of the times, which are sorted.
  Nanoseconds percentile(double percent) const {
    const auto rank = static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(times.size())));
    return times[std::clamp<size_t>(rank, 1, times.size()) - 1];
  }
  Nanoseconds total() const { return std::accumulate(times.begin(), times.end(), Nanoseconds(0)); }
  double per_second() const { return static_cast<double>(times.size()) / (milliseconds(total()) / 1000); }

  std::string file;
  uint64_t memory_before;
  uint64_t memory_after = 0;
  std::optional<Program> program;  // it, or
  std::optional<script::ScriptModule> script;
  std::vector<Value> inputs;
  ScriptArguments arguments;
  std::string method;
  int threads = 1;
  Nanoseconds load_time{0};
  Nanoseconds first_run{0};
  std::vector<Nanoseconds> times;
  Profile profile;
  size_t profiled_runs = 0;
};

void measure(std::vector<std::unique_ptr<Subject>>& subjects, const BenchOptions& options, RunWatch& watch) {
  watch.begin("warming up");
  for (auto& subject : subjects) {
    subject->first_run = subject->run();
    for (size_t i = 1; i < options.warmup; ++i) subject->run();
  }
  watch.begin("measuring");
  const auto begun = Clock::now();
  const auto most = std::chrono::duration<double>(options.seconds);
  // Alternating: whatever else the machine does meets all of them alike.
  for (size_t i = 0; options.runs != 0 ? i < options.runs : i == 0 || Clock::now() - begun < most; ++i) {
    for (auto& subject : subjects) subject->times.push_back(subject->run());
  }
  watch.begin("profiling");
  for (auto& subject : subjects) {
    std::ranges::sort(subject->times);
    subject->memory_after = process_bytes("VmRSS");
    // Apart from the timed runs, which looking at the clock would slow down.
    const auto until = Clock::now() + std::chrono::seconds(1);
    while (subject->program &&
           (subject->profiled_runs == 0 || (subject->profiled_runs < 20 && Clock::now() < until))) {
      subject->run(&subject->profile);
      ++subject->profiled_runs;
    }
  }
}

json::Value subject_json(const Subject& subject) {
  json::Value value;
  value.set("file", subject.file);
  value.set("runs", static_cast<uint64_t>(subject.times.size()));
  value.set("threads", subject.threads);
  value.set("load_ms", milliseconds(subject.load_time));
  value.set("first_run_ms", milliseconds(subject.first_run));
  json::Value latency;
  latency.set("min", milliseconds(subject.times.front()));
  latency.set("median", milliseconds(subject.percentile(50)));
  latency.set("p90", milliseconds(subject.percentile(90)));
  latency.set("p99", milliseconds(subject.percentile(99)));
  latency.set("max", milliseconds(subject.times.back()));
  latency.set("mean", milliseconds(subject.total()) / static_cast<double>(subject.times.size()));
  value.set("latency_ms", std::move(latency));
  value.set("runs_per_second", subject.per_second());
  if (subject.program) value.set("profile", profile_json(subject.profile, subject.profiled_runs));
  return value;
}

void print_subjects(const std::vector<std::unique_ptr<Subject>>& subjects) {
  std::vector<std::string> header = {""};
  const bool is_pair = subjects.size() == 2;
  for (const auto& subject : subjects) {
    header.push_back(is_pair ? printable(std::filesystem::path(subject->file).filename().string(), 60)
                             : "time");
  }
  if (is_pair) header.emplace_back("ratio");
  Table table(header);
  for (size_t column = 1; column < header.size(); ++column) table.align_right(column);
  const auto add = [&](const std::string& name, auto value, bool is_rate = false) {
    std::vector<std::string> cells = {name};
    for (const auto& subject : subjects) {
      if constexpr (std::is_same_v<decltype(value(*subject)), double>) {
        cells.push_back(fmt::format("{:.1f}/s", value(*subject)));
      } else {
        cells.push_back(duration_text(value(*subject)));
      }
    }
    if (is_pair) {
      const auto number = [](auto amount) {
        if constexpr (std::is_same_v<decltype(amount), double>) {
          return amount;
        } else {
          return static_cast<double>(amount.count());
        }
      };
      const double first = number(value(*subjects[0])), second = number(value(*subjects[1]));
      cells.push_back(is_rate ? fmt::format("{:.2f}", second / first)
                              : fmt::format("{:.2f}", first / second));
    }
    table.add(std::move(cells));
  };
  add("load", [](const Subject& s) { return s.load_time; });
  add("first run", [](const Subject& s) { return s.first_run; });
  add("min", [](const Subject& s) { return s.times.front(); });
  add("median", [](const Subject& s) { return s.percentile(50); });
  add("p90", [](const Subject& s) { return s.percentile(90); });
  add("p99", [](const Subject& s) { return s.percentile(99); });
  add("max", [](const Subject& s) { return s.times.back(); });
  add("throughput", [](const Subject& s) { return s.per_second(); }, true);
  table.print(2);
}

int run_bench(const BenchOptions& options, const CommonOptions& common) {
  RunWatch watch(common.quiet || common.json);
  watch.begin("loading");
  std::vector<std::unique_ptr<Subject>> subjects;
  subjects.push_back(std::make_unique<Subject>(options.model.file, options, common));
  if (!options.compare.empty())
    subjects.push_back(std::make_unique<Subject>(options.compare, options, common));
  measure(subjects, options, watch);
  const Subject& first = *subjects[0];
  const uint64_t peak = process_bytes("VmHWM");
  const double ratio = subjects.size() == 2 ? static_cast<double>(first.percentile(50).count()) /
                                                  static_cast<double>(subjects[1]->percentile(50).count())
                                            : 0;
  if (common.json) {
    json::Value value = subject_json(first);
    json::Value memory;
    memory.set("before_load", first.memory_before);
    memory.set("resident", first.memory_after);
    memory.set("peak", peak);
    value.set("memory_bytes", std::move(memory));
    if (subjects.size() == 2) {
      value.set("compare", subject_json(*subjects[1]));
      value.set("ratio", ratio);
    }
    print_json(value);
    return kExitOk;
  }
  fmt::print("{}: {}, {}\n", styled(printable(first.file, 400), Style::kBold),
             counted(first.times.size(), "run"), counted(static_cast<uint64_t>(first.threads), "thread"));
  print_subjects(subjects);
  fmt::print("  memory: {} resident ({} before loading), {} at most\n", human_bytes(first.memory_after),
             human_bytes(first.memory_before), human_bytes(peak));
  if (subjects.size() == 2) {
    fmt::print("  {} is {:.2f} times as fast as {} (medians)\n", printable(options.compare, 400), ratio,
               printable(options.model.file, 400));
  }
  for (const auto& subject : subjects) {
    if (common.quiet) break;
    if (!subject->program) continue;
    if (subjects.size() == 2) fmt::print("\n{}", styled(printable(subject->file, 400), Style::kBold));
    print_by_operator(subject->profile, subject->profiled_runs, options.limit);
    if (options.profile) print_by_node(subject->profile, subject->profiled_runs, options.limit);
  }
  return kExitOk;
}

}  // namespace

Command bench_command() {
  auto options = std::make_shared<BenchOptions>();
  std::vector<Option> list = model_options(options->model);
  list.insert(list.end(),
              {
                  Option("-r,--runs", "How many timed runs", &options->runs).between(1, 1e15),
                  Option("-s,--seconds", "How long to run instead", &options->seconds)
                      .between(std::numeric_limits<double>::min(), std::numeric_limits<double>::max())
                      .excludes("--runs")
                      .shows_default(),
                  Option("-w,--warmup", "Runs that are not counted before; at least one", &options->warmup)
                      .shows_default(),
                  Option("--method", "Of TorchScript: the method to call", &options->method).shows_default(),
                  Option("--compare", "Another program to run in turns with this one", &options->compare)
                      .takes(Takes::kInput),
                  Option("-p,--profile", "Show the time of each node, too", &options->profile),
                  Option("-n,--limit", "Rows of the tables; 0 for all", &options->limit).shows_default(),
              });
  return {"bench",
          "Measure how fast an exported program or a TorchScript module runs",
          std::move(list),
          {{"bench model.pt2 --threads 1", "latency, throughput, memory, time by operator"},
           {"bench model.pt2 --size batch=8 --seconds 10", ""},
           {"bench old.pt2 --compare new.pt2", "run by run alternating, with the ratio of the medians"},
           {"bench script.pt --input random:1x3x224x224", "a TorchScript module"},
           {"bench model.pt2 --runs 100 --json", "for scripts"}},
          [options](const CommonOptions& common) { return run_bench(*options, common); },
          "Inputs are given as to 'flambeau run' (see 'flambeau run --help')."};
}

}  // namespace flambeau::cli
