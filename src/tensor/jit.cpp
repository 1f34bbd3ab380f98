// Calls of a function that jit() captures: the first ones run it, later ones replay what was captured, several at the same
// time where they leave nothing behind but their results.

#include <weft/jit.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>

#include <weft/settings.h>

#include "capture.h"
#include "captured.h"
#include "state.h"

namespace weft {

// Of one function, which goes on from gradients in one call and from none in another.
constexpr std::size_t most_kept = 4;

// What was captured: once for each of the calls that have met, or that found other gradients.
struct Replay::State {
  std::mutex capturing;  // held by calls that run the function itself
  int calls = 0;         // of these

  std::mutex mutex;  // of what follows
  std::condition_variable returned;
  std::vector<std::unique_ptr<Captured>> idle;
  std::size_t running = 0, waiting = 0;  // calls
  bool is_pure = true, is_resetting = false;
  JitReport report;

  std::unique_ptr<Captured> taken();
  void add(std::unique_ptr<Captured> captured);
  void refresh_all();
  void drop_outdated() {
    std::erase_if(idle, [](const auto& captured) { return captured->is_outdated(); });
  }
  void give_back(std::unique_ptr<Captured> captured);
  class Alone;
};

std::unique_ptr<Replay::Captured> Replay::State::taken() {
  std::unique_lock lock(mutex);
  ++waiting;
  returned.wait(lock, [&] {
    const bool may_run = is_pure && !idle.empty() && !idle.back()->is_stale();
    return !is_resetting && (running == 0 || may_run);
  });
  --waiting;
  drop_outdated();
  if (running == 0) refresh_all();
  drop_outdated();
  const auto found =
      std::ranges::find_if(idle, [](const auto& captured) { return captured->finds_gradients(); });
  if (found == idle.end()) return nullptr;
  auto captured = std::move(*found);
  idle.erase(found);
  ++running;
  return captured;
}

void Replay::State::add(std::unique_ptr<Captured> captured) {
  const std::lock_guard lock(mutex);
  report = captured->report();
  idle.push_back(std::move(captured));
  is_pure = std::ranges::all_of(idle, &Captured::is_pure);
  if (idle.size() > most_kept) idle.erase(idle.begin());
}

// What was assigned to since the last calls is computed while none runs, and then all know it. There can be only one of what
// is no longer pure.
void Replay::State::refresh_all() {
  const bool was_pure = is_pure;
  for (const auto& captured : idle)
    if (captured->is_stale()) captured->refresh();
  is_pure = std::ranges::all_of(idle, &Captured::is_pure);
  if (was_pure && !is_pure) idle.erase(idle.begin(), idle.end() - 1);
}

// There are too few where somebody waits, and another is made, unless there can be only one.
void Replay::State::give_back(std::unique_ptr<Captured> captured) {
  const std::lock_guard lock(mutex);
  if (is_pure && waiting > 0 && idle.empty() && !captured->is_stale()) try {
      idle.reserve(running + 1);
      idle.push_back(captured->another());
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // There is no memory for it: they wait for this one.
    }
  idle.push_back(std::move(captured));
  --running;
  returned.notify_all();
}

// While one lives, nothing of the function is replayed.
class Replay::State::Alone {
 public:
  explicit Alone(State& state) : state_(state) {
    std::unique_lock lock(state_.mutex);
    state_.returned.wait(lock, [&] { return state_.running == 0; });
    ++state_.running;
  }
  ~Alone() {
    const std::lock_guard lock(state_.mutex);
    --state_.running;
    state_.returned.notify_all();
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  State& state_;
};

Replay::Replay() : state_(std::make_unique<State>()) {}
Replay::~Replay() = default;
Replay::Replay(Replay&&) noexcept = default;
Replay& Replay::operator=(Replay&&) noexcept = default;

namespace {

// Results in memory, and no part of a graph: as replayed ones are.
JitResults run_plainly(const JitArguments& arguments, const Replay::Body& body) {
  std::vector<Tensor> given;
  for (const auto& [name, tensor] : arguments.tensors) given.push_back(tensor);
  JitResults results = body(given);
  Tensor::realize(results.tensors);
  for (Tensor& result : results.tensors) result = result.detach();
  return results;
}

// Not inside of another function that is captured, whose calls these become.
bool replays_now() { return Capture::current() == nullptr && setting_int("JIT") != 0; }

JitResults run_first(const JitArguments& arguments, const Replay::Body& body) {
  const Capture watch(Capture::Allowed);
  JitResults results = run_plainly(arguments, body);
  watch.own_assigned();
  return results;
}

}  // namespace

JitResults Replay::call(const JitArguments& arguments, const Body& body) {
  if (!replays_now()) return run_plainly(arguments, body);
  if (auto results = replay(arguments)) return std::move(*results);
  const std::lock_guard lock(state_->capturing);
  if (auto results = replay(arguments)) return std::move(*results);
  if (state_->calls++ == 0) {
    const std::uint64_t first_new = Storage::next_number();
    JitResults results = run_first(arguments, body);
    Captured::copy_what_shares(results.tensors, first_new, nullptr);
    Tensor::realize(results.tensors);
    return results;
  }
  const State::Alone alone(*state_);
  auto captured = std::make_unique<Captured>(arguments, body);
  JitResults results = captured->results();
  state_->add(std::move(captured));
  return results;
}

std::optional<JitResults> Replay::replay(const JitArguments& arguments) {
  class Taken {
   public:
    explicit Taken(State& state) : state_(state), captured_(state.taken()) {}
    ~Taken() {
      if (captured_ != nullptr) state_.give_back(std::move(captured_));
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    Captured* get() const { return captured_.get(); }

   private:
    State& state_;
    std::unique_ptr<Captured> captured_;
  };
  if (!replays_now()) return std::nullopt;
  const Taken taken(*state_);
  if (taken.get() == nullptr) return std::nullopt;
  return taken.get()->call(arguments);
}

JitReport Replay::report() const {
  const std::lock_guard lock(state_->mutex);
  return state_->report;
}

void Replay::reset() {
  const std::lock_guard capturing(state_->capturing);
  std::unique_lock lock(state_->mutex);
  state_->is_resetting = true;  // no new call begins meanwhile
  state_->returned.wait(lock, [&] { return state_->running == 0; });
  state_->is_resetting = false;
  state_->returned.notify_all();
  state_->idle.clear();
  state_->is_pure = true;
  state_->report = {};
  state_->calls = 0;
}

}  // namespace weft
