// AARCH64: kernels compiled here for AArch64, and run by a program for it under qemu, which has the
// memory. AARCH64:CLANG is the same by clang. Whatever links this has the device.

#include <spawn.h>
#include <unistd.h>

#include <cstring>
#include <mutex>

#include <fmt/format.h>
#include <weft/dev/device/device.h>

#include "messages.h"

namespace weft::remote {
namespace {

// The program, for as long as this one runs.
class Runner {
 public:
  static Runner& start() {
    static auto& runner = *new Runner;  // leaked on purpose, like the devices
    return runner;
  }

  // One request at a time, with its answer.
  template <class Talk>
  auto ask(Request request, Talk talk) {
    const std::lock_guard lock(mutex_);
    channel_.send(request);
    return talk(channel_);
  }

 private:
  Runner() : channel_(socket_to_program()) {}

  static int socket_to_program() {
#ifdef WEFT_AARCH64_RUNNER
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      internal_error(fmt::format("AARCH64: {}", std::strerror(errno)));
    std::string words[] = {WEFT_QEMU, "-L", WEFT_AARCH64_ROOT, WEFT_AARCH64_RUNNER};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDIN_FILENO);
    pid_t process = 0;
    const int error = posix_spawn(&process, WEFT_QEMU, &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (error != 0) user_error(fmt::format("AARCH64: {}: {}", WEFT_QEMU, std::strerror(error)));
    return ends[0];
#else
    user_error("AARCH64: built without qemu-aarch64 and aarch64-linux-gnu-g++");
#endif
  }

  std::mutex mutex_;
  Channel channel_;
};

std::uint64_t number_of(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

void check(const Channel& channel) {
  if (channel.receive<Answer>() == Answer::Wrong) throw Error(channel.receive_text());
}

class Memory final : public Allocator {
 public:
  explicit Memory(Runner& runner) : runner_(runner) {}

  void* allocate(std::size_t bytes) override {
    return runner_.ask(Request::Allocate, [&](const Channel& channel) {
      channel.send<std::uint64_t>(bytes);
      return reinterpret_cast<void*>(channel.receive<std::uint64_t>());
    });
  }
  void release(void* memory, std::size_t) override {
    try {
      runner_.ask(Request::Release,
                  [&](const Channel& channel) { channel.send(number_of(memory)); });
    } catch (const Error&) {  // the program has ended, and its memory with it
    }
  }
  void copy_in(void* to, std::size_t offset, std::span<const std::byte> from) override {
    runner_.ask(Request::Write, [&](const Channel& channel) {
      channel.send(number_of(to) + offset);
      channel.send_list(from);
    });
  }
  void copy_out(std::span<std::byte> to, const void* from, std::size_t offset) override {
    runner_.ask(Request::Read, [&](const Channel& channel) {
      channel.send(number_of(from) + offset);
      channel.send<std::uint64_t>(to.size());
      channel.receive_bytes(to);
    });
  }
  bool uses_addresses() const override { return false; }

 private:
  Runner& runner_;
};

class RemoteProgram final : public Program {
 public:
  RemoteProgram(Runner& runner, std::string_view code) : runner_(runner) {
    number_ = runner.ask(Request::Load, [&](const Channel& channel) {
      channel.send_text(code);
      check(channel);
      return channel.receive<std::uint64_t>();
    });
  }

  void run(std::span<const Argument> arguments, std::span<const std::int64_t> values) override {
    std::vector<std::uint64_t> addresses;
    for (const Argument& argument : arguments)
      addresses.push_back(number_of(argument.memory) + argument.offset);
    runner_.ask(Request::Run, [&](const Channel& channel) {
      channel.send(number_);
      channel.send_list(std::span<const std::uint64_t>(addresses));
      channel.send_list(values);
      check(channel);
    });
  }

 private:
  Runner& runner_;
  std::uint64_t number_;
};

class AArch64 final : public Device {
 public:
  AArch64(std::string name, Device& compiler)
      : name_(std::move(name)), compiler_(compiler), runner_(Runner::start()), memory_(runner_) {}

  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return memory_; }
  Target target() const override { return compiler_.target(); }
  std::string render(const Node* kernel) override { return compiler_.render(kernel); }
  std::string compile(std::string_view source) override { return compiler_.compile(source); }
  std::vector<std::string> compile_all(std::span<const std::string> sources) override {
    return compiler_.compile_all(sources);
  }
  std::string compiler_key() const override { return compiler_.compiler_key(); }
  std::unique_ptr<Program> load(std::string_view code) override {
    return std::make_unique<RemoteProgram>(runner_, code);
  }

 private:
  std::string name_;
  Device& compiler_;
  Runner& runner_;
  Memory memory_;
};

const bool is_added = [] {
  add_device_of_makes("AARCH64", "AArch64 under qemu, for tests",
                      [](std::string_view make, int) -> std::unique_ptr<Device> {
                        const std::string compiler = make.empty() ? "LLVM" : std::string(make);
                        const std::string name =
                            make.empty() ? "AARCH64" : fmt::format("AARCH64:{}", make);
                        return std::make_unique<AArch64>(
                            name, find_device(fmt::format("CPU:{}:aarch64", compiler)));
                      });
  return true;
}();

}  // namespace
}  // namespace weft::remote
