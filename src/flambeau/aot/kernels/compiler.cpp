#include "flambeau/aot/kernels/compiler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include "flambeau/aot/kernels/table.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/work.h"

namespace flambeau::aot {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::minutes(10);

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

// What PATH says; empty for none.
std::string find_in_path(std::string_view name) {
  const char* const text = std::getenv("PATH");
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const size_t end = rest.find(':');
    const fs::path folder(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (folder.is_absolute() && is_program(folder / name)) return (folder / name).string();
  }
  return {};
}

// Mode 0700, and gone at the end.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::error_code error;
    fs::path base = fs::temp_directory_path(error);
    if (error) base = "/tmp";
    path_ = (base / "flambeau-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr)
      throw Error(ErrorCode::kIo,
                  fmt::format("no folder can be made in '{}': {}", base.string(), std::strerror(errno)));
  }
  ~PrivateFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  std::string file(std::string_view name) const { return fmt::format("{}/{}", path_, name); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void write_file(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) throw Error(ErrorCode::kIo, fmt::format("'{}': {}", path, std::strerror(errno)));
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int reason = errno;
      close(fd);
      throw Error(ErrorCode::kIo, fmt::format("'{}': {}", path, std::strerror(reason)));
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  close(fd);
}

std::string first_words(const std::string& path) {
  try {
    const std::shared_ptr<Mapping> said = Mapping::open(path);
    return printable(as_text(said->bytes()).substr(0, 2000), 500);
  } catch (const Error&) {
    return {};
  }
}

// One call of the compiler, begun when it is made and ended at the latest with it.
class Call {
 public:
  Call(const std::string& compiler, const PrivateFolder& folder, std::string log,
       std::vector<std::string> arguments)
      : log_(std::move(log)) {
    arguments.insert(arguments.begin(), compiler);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    // The compiler's own folder, as its assembler and linker may lie beside it.
    std::string environment[] = {
        fmt::format("PATH={}:/usr/bin:/bin", fs::path(compiler).parent_path().string()),
        fmt::format("TMPDIR={}", folder.path()), "LC_ALL=C"};
    char* const envp[] = {environment[0].data(), environment[1].data(), environment[2].data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log_.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    const int error = posix_spawn(&process_, compiler.c_str(), &actions, nullptr, argv.data(), envp);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      process_ = -1;
      throw Error(ErrorCode::kUnsupported, fmt::format("the compiler '{}' cannot be started: {}",
                                                       printable(compiler), std::strerror(error)));
    }
  }
  ~Call() {
    if (process_ < 0) return;
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void wait(Clock::time_point until) {
    int status = 0;
    for (;;) {
      const pid_t ended = waitpid(process_, &status, WNOHANG);
      if (ended == process_) break;
      if (ended < 0 && errno != EINTR) break;
      poll_work();
      if (Clock::now() > until) throw Error(ErrorCode::kLimit, "the compiler takes too long");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    process_ = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    throw Error(ErrorCode::kUnsupported, fmt::format("the compiler failed: {}", first_words(log_)),
                "name another with --compiler, or compile without kernels");
  }

 private:
  pid_t process_ = -1;
  std::string log_;
};

// As our own loops are compiled (cmake/FlambeauBuild.cmake), so that they give the same bits.
std::vector<std::string> level_flags(Isa level) {
  if (level == Isa::kAvx2) return {"-mavx2", "-mfma", "-mf16c", "-mbmi2"};
  if (level == Isa::kAvx512) {
    return {"-mavx512f",  "-mavx512bw", "-mavx512dq",
            "-mavx512vl", "-mavx2",     "-mfma",
            "-mf16c",     "-mbmi2",     "-mprefer-vector-width=512"};
  }
  return {};
}

}  // namespace

std::string find_compiler(const std::string& given) {
  if (given.find('/') != std::string::npos) {
    std::error_code error;
    const fs::path path = fs::absolute(given, error);
    if (!error && is_program(path)) return path.string();
    throw Error(ErrorCode::kNotFound, fmt::format("there is no compiler '{}'", printable(given)));
  }
  if (!given.empty()) {
    std::string found = find_in_path(given);
    if (!found.empty()) return found;
    throw Error(ErrorCode::kNotFound, fmt::format("PATH has no compiler '{}'", printable(given)));
  }
  for (const std::string_view name : {"cc", "gcc", "clang"}) {
    std::string found = find_in_path(name);
    if (!found.empty()) return found;
  }
  throw Error(ErrorCode::kNotFound, "kernels need a C compiler, and PATH has neither cc, gcc nor clang",
              "install one, name one with --compiler, or compile without kernels");
}

std::vector<uint8_t> compile_kernels(const std::string& compiler, std::string_view source) {
  const PrivateFolder folder;
  const Clock::time_point until = Clock::now() + kPatience;
  write_file(folder.file("kernels.c"), source);
  std::vector<std::unique_ptr<Call>> calls;
  std::vector<std::string> link = {"-shared", "-nostdlib", "-Wl,-z,noexecstack",     "-Wl,--build-id=none",
                                   "-Wl,-s",  "-o",        folder.file("kernels.so")};
  for (const Isa level : kernel_levels()) {
    const std::string name(level_name(level));
    std::vector<std::string> arguments = {
        "-std=gnu11", "-O3", "-w", "-fPIC", "-fvisibility=hidden", "-fno-math-errno", "-fno-trapping-math",
        // Nothing may call a library, as there is none.
        "-ffreestanding", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-DLEVEL=" + name};
    for (std::string& flag : level_flags(level)) arguments.push_back(std::move(flag));
    link.push_back(folder.file(name + ".o"));
    for (std::string argument : {std::string("-c"), folder.file("kernels.c"), std::string("-o"), link.back()})
      arguments.push_back(std::move(argument));
    calls.push_back(
        std::make_unique<Call>(compiler, folder, folder.file(name + ".log"), std::move(arguments)));
  }
  for (const auto& call : calls) call->wait(until);
  Call(compiler, folder, folder.file("link.log"), link).wait(until);
  const std::shared_ptr<Mapping> made = Mapping::open(folder.file("kernels.so"));
  return {made->bytes().begin(), made->bytes().end()};
}

}  // namespace flambeau::aot
