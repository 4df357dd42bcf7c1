// The C++ side of bench/containers: answers one measurement per line of standard input, so that the script
// can alternate with PyTorch in the same run.
//   open FILE          open a checkpoint and list its tensors        -> seconds, tensors, name bytes
//   map FILE           keep a mapped checkpoint                      -> seconds
//   load FILE          keep a checkpoint whose bytes are in memory   -> seconds
//   save FILE          write the kept one as torch.save would        -> seconds
//   convert IN OUT     open and write in the other format            -> seconds
//   rss                resident memory                               -> bytes
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include "flambeau/base/files/mapping.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"

namespace {

using namespace flambeau;  // NOLINT: a benchmark program
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void answer(const std::string& line, std::optional<Checkpoint>& kept) {
  std::istringstream words(line);
  std::string verb, first, second;
  words >> verb >> first >> second;
  const auto start = Clock::now();
  if (verb == "open") {
    const Checkpoint checkpoint = load_checkpoint(first);
    uint64_t name_bytes = 0;
    for (const CheckpointTensor& entry : checkpoint.tensors())
      name_bytes += entry.name.size() + entry.tensor.dim();
    fmt::print("{:.9f} {} {}\n", since(start), checkpoint.tensors().size(), name_bytes);
  } else if (verb == "map") {
    kept = load_checkpoint(first);
    fmt::print("{:.9f}\n", since(start));
  } else if (verb == "load") {
    std::ifstream file(first, std::ios::binary);
    std::vector<uint8_t> bytes(std::filesystem::file_size(first));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    kept = load_checkpoint(Mapping::from_buffer(std::move(bytes)));
    fmt::print("{:.9f}\n", since(start));
  } else if (verb == "save") {
    save_checkpoint(*kept, first, FileKind::kTorchSave);
    fmt::print("{:.9f}\n", since(start));
  } else if (verb == "convert") {
    save_checkpoint(load_checkpoint(first), second, *weight_format_for(second));
    fmt::print("{:.9f}\n", since(start));
  } else if (verb == "rss") {
    fmt::print("{}\n", resident_bytes());
  } else {
    fmt::print("unknown\n");
  }
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::optional<Checkpoint> kept;
  std::string line;
  while (std::getline(std::cin, line)) {
    try {
      answer(line, kept);
    } catch (const Error& error) {
      fmt::print("error {}\n", error.what());
      std::fflush(stdout);
    }
  }
  return 0;
}
