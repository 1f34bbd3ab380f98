// What a device says to the program that runs its kernels on another processor, over a socket. Both
// have integers of the same form.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weft/error.h>

namespace weft::remote {

enum class Request : std::uint32_t {
  Allocate,  // bytes; gives the address
  Release,   // address
  Write,     // address, bytes, and so many bytes
  Read,      // address, bytes; gives so many bytes
  Load,      // an object file as text; gives an Answer and the number of the program
  Run,       // number of a program, list of addresses, list of values; gives an Answer
};

enum class Answer : std::uint32_t { Right, Wrong };  // wrong: a text says what

class Channel {
 public:
  explicit Channel(int socket) : socket_(socket) {}

  void send_bytes(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) internal_error("the program for another processor has ended");
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }
  template <class T>
  void send(const T& value) const {
    send_bytes(std::as_bytes(std::span(&value, 1)));
  }
  template <class T>
  void send_list(std::span<const T> list) const {
    send<std::uint64_t>(list.size());
    send_bytes(std::as_bytes(list));
  }
  void send_text(std::string_view text) const { send_list(std::span(text.data(), text.size())); }

  void receive_bytes(std::span<std::byte> bytes) const {
    if (!receive_all(bytes)) internal_error("the program for another processor has ended");
  }
  // False where nobody is there any more.
  template <class T>
  bool receive(T& value) const {
    return receive_all(std::as_writable_bytes(std::span(&value, 1)));
  }
  template <class T>
  T receive() const {
    T value;
    receive_bytes(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  template <class T>
  std::vector<T> receive_list() const {
    std::vector<T> list(receive<std::uint64_t>());
    receive_bytes(std::as_writable_bytes(std::span(list)));
    return list;
  }
  std::string receive_text() const {
    const auto text = receive_list<char>();
    return {text.begin(), text.end()};
  }

 private:
  bool receive_all(std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t received = ::recv(socket_, bytes.data(), bytes.size(), 0);
      if (received < 0 && errno == EINTR) continue;
      if (received <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(received));
    }
    return true;
  }

  int socket_;
};

}  // namespace weft::remote
