#include "interrupt.h"

#include <csignal>

namespace weft::cli {
namespace {

volatile std::sig_atomic_t has_come = 0;
struct sigaction before;

void note(int) { has_come = 1; }

}  // namespace

Interrupt::Interrupt() {
  has_come = 0;
  struct sigaction noting{};
  noting.sa_handler = note;
  noting.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGINT, &noting, nullptr);
}

Interrupt::~Interrupt() { sigaction(SIGINT, &before, nullptr); }

bool Interrupt::came() { return has_come != 0; }

}  // namespace weft::cli
