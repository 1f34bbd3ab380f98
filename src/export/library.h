// A library before it is text: what its one function takes, what that calls, and on which memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/dtype.h>

namespace weft::exported {

// An input or output. `name` is an identifier of C, and no other port has it.
struct Port {
  std::string name, title;  // `title` is its name in the model
  DType dtype;
  std::vector<std::int64_t> shape;
  bool is_output;

  std::int64_t elements() const;
};

// Memory that the caller of the library hands over.
struct Place {
  enum class In : std::uint8_t { Nothing, Port, Weights, Workspace };
  In in = In::Nothing;
  std::size_t port = 0;  // by number
  std::size_t offset = 0;
};

// A kernel, as a function of its own.
struct Function {
  std::string name, source;
  std::int64_t threads = 1;
  bool takes_thread = false;
};

struct Call {
  std::size_t function = 0;   // by number
  std::size_t bytes = 0;      // of a copy, to places[0] from places[1]; 0 where it is none
  std::vector<Place> places;  // by the arguments of the function
  std::vector<std::int64_t> values = {};

  bool is_copy() const { return bytes > 0; }
};

struct Library {
  std::string name, target;
  std::vector<Port> ports;  // inputs first
  std::vector<Function> functions;
  std::vector<Call> calls;
  std::size_t workspace_bytes = 0;
  std::string weights;  // what follows the header

  std::int64_t threads() const;     // that a kernel is split into, at most
  std::size_t most_places() const;  // of a call
};

}  // namespace weft::exported
