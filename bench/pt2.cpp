// The C++ side of bench/pt2: opens, verifies and saves exported programs, and says how long it took.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/program.h"

namespace {

using namespace flambeau;  // NOLINT: a program of its own

// The seconds that each of `rounds` runs takes.
template <typename Run>
std::vector<double> timed(int rounds, Run&& run) {
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return seconds;
}

int run(const std::vector<std::string>& arguments) {
  std::vector<double> seconds;
  if (arguments.size() == 3 && arguments[0] == "load") {
    seconds = timed(std::atoi(arguments[2].c_str()), [&] {
      const pt2::Package package = pt2::load_package(arguments[1]);
      for (const pt2::Model& model : package.models) graph::require_valid(model.program);
    });
  } else if (arguments.size() == 4 && (arguments[0] == "save" || arguments[0] == "sync")) {
    const Durability durability = arguments[0] == "sync" ? Durability::kSynced : Durability::kCached;
    const pt2::Package package = pt2::load_package(arguments[1]);
    seconds = timed(std::atoi(arguments[3].c_str()), [&] {
      save_package(package, arguments[2], package.layout, Progress::silent(), FileApi::system(), durability);
    });
  } else {
    fmt::print(stderr, "bench_pt2 load FILE ROUNDS | save|sync FILE OUT ROUNDS\n");
    return 2;
  }
  fmt::print("{{\"seconds\": [{}]}}\n", fmt::join(seconds, ", "));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const flambeau::Error& error) {
    fmt::print(stderr, "bench_pt2: {}\n", error.what());
    return 1;
  }
}
