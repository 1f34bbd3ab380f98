// The machine as a peer:  peers_roof fma|normal|non-temporal THREADS
//
// `fma` multiplies and adds in registers, whatever the case. The others pass over memory as often
// as the case has to at least, in tensors of its size, with that kind of store.

#include "roof.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "team.h"
#include "work.h"

namespace weft::bench {
namespace {

using nlohmann::json;

class FmaPeak final : public Work {
 public:
  explicit FmaPeak(Team& team) : team_(team) {}
  void run() override {
    team_.run([&](int thread) { done_[static_cast<std::size_t>(thread)] = fma_loop(iterations); });
  }
  double flops() const override {
    double sum = 0;
    for (double one : done_) sum += one;
    return sum;
  }

 private:
  static constexpr std::size_t iterations = 100'000;  // some milliseconds
  Team& team_;
  std::vector<double> done_ = std::vector<double>(static_cast<std::size_t>(team_.size()));
};

class Stream final : public Work {
 public:
  Stream(Team& team, Store store, const json& one)
      : team_(team), store_(store), count_(one.at("elements").get<std::size_t>()) {
    const auto threads = static_cast<std::size_t>(team.size());
    share_ = (count_ + threads - 1) / threads;
    share_ = (share_ + whole - 1) / whole * whole;
    for (const json& name : one.at("passes")) passes_.push_back(find(name.get<std::string>()));
    for (float*& array : arrays_) array = allocate(share_ * threads);
    // Each thread's part is first touched by it.
    team_.run([&](int thread) {
      for (float* array : arrays_) std::fill_n(array + place(thread), share_, 1.0F);
    });
  }
  ~Stream() override {
    for (float* array : arrays_) std::free(array);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void run() override {
    for (const Pass pass : passes_)
      team_.run([&](int thread) {
        const std::size_t at = place(thread);
        const auto& [out, a, b, c] = arrays_;
        kept_ = stream_loop(pass, store_, out + at, a + at, b + at, c + at, share_);
      });
  }

 private:
  static constexpr std::size_t whole = 256;  // elements that the loops do at a time divide it

  static Pass find(const std::string& name) {
    static const std::map<std::string, Pass> passes{
        {"read", Pass::Read}, {"scale", Pass::Scale}, {"add", Pass::Add}, {"fma", Pass::Fma}};
    return passes.at(name);
  }
  static float* allocate(std::size_t count) {
    return static_cast<float*>(std::aligned_alloc(64, count * sizeof(float)));
  }
  std::size_t place(int thread) const { return share_ * static_cast<std::size_t>(thread); }

  Team& team_;
  Store store_;
  std::size_t count_, share_;
  std::vector<Pass> passes_;
  float* arrays_[4]{};
  std::atomic<float> kept_ = 0;
};

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  using namespace weft::bench;
  const std::string what = argc > 1 ? argv[1] : "";
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  Team team(threads);
  serve([&](const nlohmann::json& request) -> std::unique_ptr<Work> {
    if (what == "fma") return std::make_unique<FmaPeak>(team);
    const Store store = what == "non-temporal" ? Store::NonTemporal : Store::Normal;
    return std::make_unique<Stream>(team, store, request.at("case"));
  });
}
