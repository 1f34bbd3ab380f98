// A library before it is text: what its functions take, what they call, and on which memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dtype.h>

namespace weft::exported {

// An input or output. `name` is an identifier of C, and no other port has it.
struct Port {
  std::string name, title;  // `title` is its name in the model
  DType dtype;
  std::vector<std::int64_t> shape;  // at most
  bool is_open;                     // some of that depends on sizes
  bool may_be_empty;                // then there need be no memory
  bool is_output;

  std::int64_t elements() const;
  std::size_t bytes() const;
};

// A size that every call says anew.
struct Size {
  std::string name, title;  // as of a port
  std::uint64_t variable;
  std::int64_t least, most;
};

// Memory that the caller of the library hands over.
struct Place {
  enum class In : std::uint8_t { Nothing, Port, Weights, Workspace, State };
  In in = In::Nothing;
  std::size_t port = 0;  // by number
  std::size_t offset = 0;
};

// A kernel, as a function of its own.
struct Function {
  std::string name, source;
  std::int64_t threads = 1;
  bool takes_thread = false;
  bool has_tiles = false;  // which the system is asked for
};

// What a kernel is told: a number, or one of the sizes.
struct Number {
  std::int64_t value;
  std::optional<std::size_t> size;
};

struct Call {
  std::size_t function = 0;   // by number
  std::size_t bytes = 0;      // of a copy, to places[0] from places[1], at most; 0 where it is none
  std::vector<Place> places;  // by the arguments of the function
  std::vector<Number> values = {};

  bool is_copy() const { return bytes > 0; }
  bool has_sizes() const;
  bool only_writes_ports() const;
};

struct Routine {
  std::vector<Call> calls;
  std::size_t workspace_bytes = 0;

  std::size_t most_places() const;  // of a call
  std::size_t most_values() const;
};

// What a program calls: `prefix`_run.
struct Entry {
  std::string name, prefix;  // the name is empty where there is one alone
  std::vector<Port> ports;   // inputs first
  std::vector<Size> sizes;
  Routine run;
  Routine shapes;  // writes the shapes of all ports, one after the other; empty where none is open

  // Of a copy, the port whose bytes are as many as sizes make them; null where there is none.
  const Place* open_port(const Call& copy) const;
  bool copies_open() const;  // in some call

  std::size_t inputs() const;
  std::size_t ranks() const;                         // of all ports together
  std::size_t ranks_before(std::size_t port) const;  // of those
};

// Memory that lasts from call to call. What it begins with is a part of the weights, and zeros behind that.
struct StatePart {
  std::string name;  // an identifier; empty where the program has none for it
  DType dtype;
  std::vector<std::int64_t> shape;
  std::size_t offset;

  std::size_t bytes() const;
};
struct State {
  std::size_t bytes = 0, kept_bytes = 0, kept_at = 0;  // in the weights
  std::vector<StatePart> parts = {};
};

struct Library {
  std::string name, target;
  std::vector<Entry> entries;
  std::vector<Function> functions;
  State state;
  std::string weights;  // what follows the header

  std::int64_t threads() const;              // that a kernel is split into, at most
  std::size_t workspace_bytes() const;       // of the entry that needs most
  std::vector<std::string> symbols() const;  // that programs may see
};

}  // namespace weft::exported
