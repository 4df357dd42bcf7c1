// What each subcommand takes and does. Every run function returns the exit code; errors are thrown.
#pragma once

#include <string>
#include <vector>

namespace flambeau::cli {

// 0: done, and for check and diff: harmless, equal. 1: check or diff found something. 2: an error.
enum ExitCode : int { kExitOk = 0, kExitFound = 1, kExitError = 2 };

struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;
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
