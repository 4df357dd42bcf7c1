// What each subcommand takes and does. Every run function returns the exit code; errors are thrown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flambeau::cli {

// 0: done, and for check, diff, run --check-against: harmless, equal. 1: they found something. 2: an error.
enum ExitCode : int { kExitOk = 0, kExitFound = 1, kExitError = 2 };

struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;
  double time_limit = 0;      // seconds; 0 for none
  uint64_t memory_limit = 0;  // bytes; 0 for none
};

struct InspectOptions {
  std::vector<std::string> files;
  bool statistics = false;
  bool records = false;
  bool globals = false;
  bool structure = false;
  size_t limit = 50;
};
int run_inspect(const InspectOptions& options, const CommonOptions& common);

struct ListOptions {
  std::string file;
};
int run_list(const ListOptions& options, const CommonOptions& common);

struct ExtractOptions {
  std::string file;
  std::vector<std::string> records;  // empty: all
  std::string output;                // a file for one record, a folder for several; "-" for standard output
};
int run_extract(const ExtractOptions& options, const CommonOptions& common);

struct ConvertCommandOptions {
  std::string input;
  std::string output;
  std::string dtype;
  std::string format;
  std::vector<std::string> filters;
  // Of programs.
  std::string layout;
  std::string schema;
  std::string model;
  std::string weights;
};
int run_convert(const ConvertCommandOptions& options, const CommonOptions& common);

struct DiffOptions {
  std::string a;
  std::string b;
  std::vector<std::string> filters;
  double tolerance = 0;
  bool ignore_dtype = false;
};
int run_diff(const DiffOptions& options, const CommonOptions& common);

struct CheckOptions {
  std::vector<std::string> files;
};
int run_check(const CheckOptions& options, const CommonOptions& common);

struct VerifyCommandOptions {
  std::vector<std::string> files;
  std::string dialect = "auto";
  size_t limit = 100;
};
int run_verify(const VerifyCommandOptions& options, const CommonOptions& common);

struct CanonicalizeOptions {
  std::string file;
  std::string output;  // empty: standard output
  std::string model;
};
int run_canonicalize(const CanonicalizeOptions& options, const CommonOptions& common);

struct GraphCommandOptions {
  std::string file;
  std::string format = "text";
  std::string output;  // empty: standard output
  std::string model;
  bool modules = false;
};
int run_graph(const GraphCommandOptions& options, const CommonOptions& common);

struct ExportCommandOptions {
  std::string model;
  std::string output;
  std::vector<std::string> dynamic;  // "0=batch"
  std::vector<std::string> sizes;    // "batch=4"
  std::string weights;
  uint64_t seed = 0;
  std::vector<std::string> preserved;  // modules
  bool train = false;
  bool strict = false;
  bool decompose = false;
  bool print = false;
};
int run_export(const ExportCommandOptions& options, const CommonOptions& common);

// What run and bench open, and with what.
struct ModelOptions {
  std::string file;
  std::string model;
  std::vector<std::string> inputs;     // "NAME=WHAT"
  std::vector<std::string> sizes;      // "s0=8"
  std::vector<std::string> operators;  // shared libraries
  uint64_t seed = 0;
  bool no_plan = false;
};

struct RunCommandOptions {
  ModelOptions model;
  std::string output;
  std::string check_against;
  double relative = -1;  // tolerances; negative: those of the type
  double absolute = -1;
  bool profile = false;
  size_t limit = 20;
};
int run_run(const RunCommandOptions& options, const CommonOptions& common);

struct BenchOptions {
  ModelOptions model;
  std::string compare;
  size_t runs = 0;  // 0: as many as fit into `seconds`
  double seconds = 3;
  size_t warmup = 3;
  bool profile = false;
  size_t limit = 20;
};
int run_bench(const BenchOptions& options, const CommonOptions& common);

// What convert, diff and inspect do where the files are exported programs.
bool is_program_file(const std::string& path);
int convert_program(const ConvertCommandOptions& options, const CommonOptions& common);

// How two files of programs differ apart from their weights.
struct DiffRow {
  std::string part;
  std::string name;
  std::string status;
  std::string detail;
};
struct DiffRows {
  std::vector<DiffRow> rows;
  size_t equal_nodes = 0;
  size_t follows = 0;        // nodes that differ because an operand does
  bool has_weights = false;  // both files
};
DiffRows diff_structure(const std::string& a, const std::string& b);

// A completion script for bash, zsh or fish.
int run_completion(const std::string& shell);

}  // namespace flambeau::cli
