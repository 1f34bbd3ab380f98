// Ctrl-C, for what can end early and still say what it has.
#pragma once

namespace weft::cli {

// While one lives, the first Ctrl-C is only noted; the second one ends the process as ever. A process that was
// started to ignore them ignores them.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool came();
};

}  // namespace weft::cli
