// Memory and kernels for a device on the other end of standard input and output: a program for a
// processor that is not this one. messages.h says what is said.

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include <weft/error.h>

#include "../../src/backends/cpu/elf_object.h"
#include "messages.h"

namespace weft::remote {
namespace {

using Entry = void (*)(void* const* arguments, const std::int64_t* values, std::int64_t thread);

class Runner {
 public:
  // Until there is nobody to talk to.
  void serve() {
    for (Request request; channel_.receive(request);) {
      try {
        answer(request);
      } catch (const Error& error) {
        channel_.send(Answer::Wrong);
        channel_.send_text(error.what());
      }
    }
  }

 private:
  void answer(Request request) {
    switch (request) {
      case Request::Allocate: return allocate();
      case Request::Release: return ::operator delete(address(), alignment);
      case Request::Write: {
        std::byte* const to = address();
        return channel_.receive_bytes({to, channel_.receive<std::uint64_t>()});
      }
      case Request::Read: {
        std::byte* const from = address();
        return channel_.send_bytes({from, channel_.receive<std::uint64_t>()});
      }
      case Request::Load: return load();
      case Request::Run: return run();
    }
  }

  std::byte* address() { return reinterpret_cast<std::byte*>(channel_.receive<std::uint64_t>()); }

  void allocate() {
    const auto bytes = channel_.receive<std::uint64_t>();
    channel_.send(reinterpret_cast<std::uint64_t>(::operator new(bytes, alignment)));
  }

  void load() {
    const std::string code = channel_.receive_text();
    auto object = std::make_unique<cpu::ElfObject>(code);
    if (!object->runs_here()) user_error("this code is for another processor");
    object->find("kernel");
    objects_.push_back(std::move(object));
    channel_.send(Answer::Right);
    channel_.send<std::uint64_t>(objects_.size() - 1);
  }

  void run() {
    const cpu::ElfObject& object = *objects_.at(channel_.receive<std::uint64_t>());
    const auto arguments = channel_.receive_list<void*>();
    const auto values = channel_.receive_list<std::int64_t>();
    std::int64_t threads = 1;
    if (object.defines("threads")) std::memcpy(&threads, object.find("threads"), sizeof threads);
    const auto entry = reinterpret_cast<Entry>(object.find("kernel"));
    for (std::int64_t thread = 0; thread < threads; ++thread)
      entry(arguments.data(), values.data(), thread);
    channel_.send(Answer::Right);
  }

  static constexpr std::align_val_t alignment{64};
  Channel channel_{STDIN_FILENO};
  std::vector<std::unique_ptr<cpu::ElfObject>> objects_;
};

}  // namespace
}  // namespace weft::remote

int main() { weft::remote::Runner().serve(); }
