#include "speed_loops.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace weft::cpu {
namespace {

constexpr int reads_in_iteration = 16;
constexpr int registers_for_others = 4;

struct Parts {
  std::string before = {}, phis = {}, body = {}, after = {};
};

std::string loop_text(std::string_view name, const Parts& parts) {
  return fmt::format(R"(define void @{}(ptr %memory, i64 %mask, i64 %iterations) {{
entry:
{}  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
{}{}  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %iterations
  br i1 %more, label %loop, label %end
end:
{}  ret void
}}
)",
                     name, parts.before, parts.phis, parts.body, parts.after);
}

// Of %a and what the chain has come to. They take turns, so that no two become one.
using Instructions = std::vector<std::string>;

std::string chains_text(const Chains& chains, std::string_view type, const Instructions& list) {
  const auto value = [](int chain, int step) { return fmt::format("%x{}.{}", chain, step); };
  Parts parts{.before = fmt::format("  %a = load volatile {}, ptr %memory\n", type)};
  for (int chain = 0; chain < chains.count; ++chain) {
    const std::string last = value(chain, chains.steps);
    parts.phis +=
        fmt::format("  {} = phi {} [%a, %entry], [{}, %loop]\n", value(chain, 0), type, last);
    parts.after += fmt::format("  store volatile {} {}, ptr %memory\n", type, last);
  }
  for (int step = 0; step < chains.steps; ++step)
    for (int chain = 0; chain < chains.count; ++chain)
      parts.body +=
          fmt::format("  {} = {}\n", value(chain, step + 1),
                      fmt::format(fmt::runtime(list[static_cast<std::size_t>(step) % list.size()]),
                                  value(chain, step)));
  return loop_text(chains.name, parts);
}

struct Lanes {
  int count;

  std::string type() const { return fmt::format("<{} x float>", count); }
  std::string sum(bool has_fma) const {
    return has_fma
               ? fmt::format("call {0} @llvm.fma.v{1}f32({0} {{0}}, {0} %a, {0} %a)", type(), count)
               : fmt::format("fadd {} {{0}}, %a", type());
  }
  std::string declaration() const {
    return fmt::format("declare {0} @llvm.fma.v{1}f32({0}, {0}, {0})\n", type(), count);
  }
};

std::string reads_text(const DeviceModel& machine) {
  Parts parts;
  parts.body = fmt::format("  %far = mul i64 %i, {}\n  %from = and i64 %far, %mask\n",
                           bytes_of_iteration(machine));
  for (int i = 0; i < reads_in_iteration; ++i)
    parts.body += fmt::format(
        "  %at{0} = add i64 %from, {1}\n  %p{0} = getelementptr i8, ptr %memory, i64 %at{0}\n"
        "  %v{0} = load volatile <{2} x float>, ptr %p{0}, align {3}\n",
        i, i * machine.vector_bytes, machine.vector_bytes / 4, machine.vector_bytes);
  return loop_text("reads", parts);
}

}  // namespace

Chains clock_chain() { return {"clock", 1, 64}; }
Chains latency_chain() { return {"latency", 1, 16}; }
Chains port_chains(const DeviceModel& machine) {
  return {"ports", machine.registers - registers_for_others, 2};
}
Chains half_chains(const DeviceModel& machine) {
  return {"halves", machine.registers - registers_for_others, 2};
}

std::int64_t bytes_of_iteration(const DeviceModel& machine) {
  return std::int64_t{reads_in_iteration} * machine.vector_bytes;
}

std::string speed_loops(const DeviceModel& machine, bool has_fma) {
  const Lanes whole{machine.vector_bytes / 4}, half{machine.vector_bytes / 8};
  return chains_text(clock_chain(), "i64", {"add i64 {0}, %a", "xor i64 {0}, %a"}) +
         chains_text(latency_chain(), whole.type(), {whole.sum(has_fma)}) +
         chains_text(port_chains(machine), whole.type(), {whole.sum(has_fma)}) +
         chains_text(half_chains(machine), half.type(), {half.sum(has_fma)}) + reads_text(machine) +
         whole.declaration() + half.declaration();
}

}  // namespace weft::cpu
