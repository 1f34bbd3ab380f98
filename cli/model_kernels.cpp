// The kernels of a model's call by their times: where there is something to gain.

#include <optional>

#include <fmt/format.h>
#include <weft/dev/engine/tuning.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "commands.h"
#include "input.h"
#include "json.h"
#include "kernel_text.h"
#include "model_inputs.h"
#include "recorded_call.h"
#include "terminal.h"

namespace weft::cli {
namespace {

// A kernel, and how it is scheduled.
struct Row {
  CallKernel kernel;
  KernelText text;        // empty of a copy
  bool is_found = false;  // the schedule is one that a search found
};

struct Table {
  std::vector<Row> rows;
  std::size_t runs = 0;  // of kernels, in a call
  Times call;
  double kernels_ms = 0;
  Roof roof;
};

// What is kept may be of anybody's making: refused, it is as none.
std::optional<KernelText> described_as_kept(const UOp& kernel, Device& device) {
  const std::string kept = kept_schedule(kernel, device);
  if (kept.empty()) return std::nullopt;
  try {
    return describe(kernel, kept, device);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Row row_of(const CallKernel& kernel) {
  Row row{kernel, {}, false};
  if (kernel.kernel.is_null()) return row;
  Device& device = find_device(kernel.device);
  const auto kept = described_as_kept(kernel.kernel, device);
  row.is_found = kept.has_value();
  row.text = kept ? *kept : describe(kernel.kernel, "", device);
  return row;
}

Table measured(const KernelsOptions& options) {
  const onnx::Model model = load_model(options.model);
  const onnx::NamedValues inputs = model_inputs(model, options.model.inputs, {});
  RecordedCall call = recorded(model, inputs);
  Table table;
  table.runs = call.size();
  call.time_kernels(options.runs);
  std::vector<double> calls_ms;
  for (int i = 0; i < options.runs; ++i) calls_ms.push_back(call.replay());
  table.call = Times(std::move(calls_ms));
  table.roof = roof_of(find_device(default_device()));
  for (const CallKernel& kernel : call.kernels()) {
    table.kernels_ms += kernel.ms;
    table.rows.push_back(row_of(kernel));
    table.rows.back().kernel.kernel = {};  // it goes with the call
  }
  return table;
}

double per_second(double amount, double ms) { return ms > 0 ? amount / ms / 1e6 : 0; }

std::string model_text(const KernelText& text) {
  return text.seconds ? fmt::format("{:.4f}", 1e3 * *text.seconds) : "-";
}

std::string roof_text(const Row& row, const Roof& roof) {
  const double least = roof.ms(row.kernel.work);
  return least == 0 || row.kernel.ms == 0 ? "-"
                                          : fmt::format("{:.0f} %", 100 * least / row.kernel.ms);
}

void print_text(const Table& table, bool with_source) {
  fmt::print("{}, {:.4g} ms a call, {:.4g} ms by their own times\n",
             count_text(table.runs, "kernel"), table.call.ms(0.5), table.kernels_ms);
  if (table.roof.flops > 0)
    fmt::print("roof: {:.4g} GFLOP/s in f32, {:.4g} GB/s of memory\n", table.roof.flops / 1e9,
               table.roof.bandwidth / 1e9);
  fmt::print("{:>10} {:>9} {:>7} {:>5} {:>10} {:>10} {:>9} {:>8} {:>6}  name, nodes: schedule\n",
             "ms", "model", "share", "runs", "Mflop", "MB", "GFLOP/s", "GB/s", "roof");
  for (const Row& row : table.rows) {
    const CallKernel& kernel = row.kernel;
    const Work& work = kernel.work;
    fmt::print(
        "{:10.4f} {:>9} {:5.1f} % {:5} {:10.4g} {:10.4g} {:9.2f} {:8.2f} {:>6}  {}{}: {}{}\n",
        kernel.ms, model_text(row.text), 100 * kernel.ms / table.kernels_ms, kernel.calls.size(),
        work.flops / 1e6, work.bytes / 1e6, per_second(work.flops, kernel.ms),
        per_second(work.bytes, kernel.ms), roof_text(row, table.roof),
        colored(kernel.name, Color::Green), kernel.nodes_text(),
        row.text.schedule.empty() ? "-" : row.text.schedule, row.is_found ? " (found)" : "");
    if (with_source) fmt::print("\n{}\n", row.text.source);
  }
}

std::string json_of(const Row& row, const Table& table, bool with_source) {
  const CallKernel& kernel = row.kernel;
  const Work& work = kernel.work;
  const double least = table.roof.ms(work);
  std::vector<std::pair<std::string_view, std::string>> members{
      {"name", json_text(kernel.name)},
      {"nodes", kernel.nodes_json()},
      {"device", json_text(kernel.device)},
      {"runs", fmt::to_string(kernel.calls.size())},
      {"schedule", json_text(row.text.schedule)},
      {"found", row.is_found ? "true" : "false"},
      {"flops", json_number(work.flops)},
      {"bytes", json_number(work.bytes)},
      {"ms", json_number(kernel.ms)},
      {"model_ms", row.text.seconds ? json_number(1e3 * *row.text.seconds) : "null"},
      {"share", json_number(kernel.ms / table.kernels_ms)},
      {"gflops", json_number(per_second(work.flops, kernel.ms))},
      {"gbps", json_number(per_second(work.bytes, kernel.ms))},
      {"roof", least > 0 ? json_number(least / kernel.ms) : "null"}};
  if (with_source) members.emplace_back("source", json_text(row.text.source));
  return json_object(members);
}

void print_json(const Table& table, bool with_source) {
  std::vector<std::string> rows;
  for (const Row& row : table.rows) rows.push_back(json_of(row, table, with_source));
  const auto known = [](double number) { return number > 0 ? json_number(number / 1e9) : "null"; };
  fmt::print("{}\n", json_object({{"call_ms", json_number(table.call.ms(0.5))},
                                  {"kernels_ms", json_number(table.kernels_ms)},
                                  {"roof_gflops", known(table.roof.flops)},
                                  {"roof_gbps", known(table.roof.bandwidth)},
                                  {"kernels", json_list(rows)}}));
}

}  // namespace

void run_model_kernels(const KernelsOptions& options) {
  if (!options.schedule.empty()) user_error("--opts is for kernels as text, not for a model");
  const Table table = measured(options);
  if (options.json)
    print_json(table, options.source);
  else
    print_text(table, options.source);
  flush_output();
}

}  // namespace weft::cli
