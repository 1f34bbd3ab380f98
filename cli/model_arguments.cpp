// Subcommands that take models.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "arguments.h"

namespace weft::cli {
namespace {

// NAME=VALUE, again for more.
template <class Add>
void add_named(CLI::App& command, const std::string& flag, const std::string& value,
               const std::string& meaning, Add add) {
  command
      .add_option_function<std::vector<std::string>>(
          flag,
          [flag, add](const std::vector<std::string>& given) {
            for (const std::string& each : given) {
              const auto equals = each.find('=');
              if (equals == 0 || equals == each.npos)
                throw CLI::ValidationError(flag, each + " is not NAME=...");
              add(each.substr(0, equals), each.substr(equals + 1));
            }
          },
          meaning)
      ->type_name(value)
      ->allow_extra_args(false);
}

}  // namespace

std::vector<std::int64_t> sizes_of(const std::string& text, const std::string& argument,
                                   char separator) {
  std::vector<std::int64_t> sizes;
  if (text.empty()) return sizes;
  for (const std::string& each : CLI::detail::split(text, separator)) {
    std::int64_t size = 0;
    if (!CLI::detail::lexical_cast(each, size) || size < 1)
      throw CLI::ValidationError(argument, "'" + each + "' is not a size");
    sizes.push_back(size);
  }
  return sizes;
}

void add_shapes(CLI::App& command, ModelOptions& options) {
  add_named(command, "--shape", "NAME=SIZES",
            "NAME=1,3,224,224: sizes of an input where the file leaves them open; by default open "
            "sizes are 1. Repeatable",
            [&options](const std::string& name, const std::string& sizes) {
              options.shapes[name] = sizes_of(sizes, "--shape", ',');
            });
}

void add_inputs(CLI::App& command, ModelOptions& options) {
  add_named(
      command, "--input", "NAME=FILE",
      "NAME=FILE: input from a .npy, .npz (the array of that name, or the only one) or .pb file "
      "(TensorProto), from an image (.png, .jpg and others: resized, laid out and normalised to "
      "fit the input), or strings from the lines of a text file. NAME=3: this number everywhere. "
      "NAME=random, the default: numbers from 0 to 1, or integers 0, 1, 2 ... Repeatable",
      [&options](const std::string& name, const std::string& file) {
        options.inputs[name] = file;
      });
}

CLI::Option* add_samples(CLI::App& command, ModelOptions& options, const std::string& flag,
                         const std::string& meaning) {
  return command
      .add_option(flag, options.samples,
                  meaning +
                      ". Files as for --input, or folders of them; if the model has several "
                      "inputs, each file is an .npz with an array for each. The first axis may "
                      "hold several calls")
      ->type_name("FILE");
}

void add_device(CLI::App& command, ModelOptions& options) {
  command.add_option("--device", options.device, "Device to run on; by default that of DEV");
  command
      .add_option("--threads", options.threads, "Number of threads; by default one for each core")
      ->check(CLI::PositiveNumber);
}

void add_model(CLI::App& command, ModelOptions& options) {
  command.add_option("model", options.file, "ONNX file")->required()->type_name("FILE");
  add_shapes(command, options);
  add_precision(command, options.precision);
  add_device(command, options);
}

void add_images(CLI::App& command, ImageOptions& options) {
  command
      .add_option(
          "--image-norm", options.norm,
          "MEAN,...,STD,... for each channel, or one of each: inputs are (x - mean) / std of "
          "pixels x from 0 to 1, so that 0,0.00392157 gives 0 to 255. By default floats are x, "
          "and integers 0 to 255")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--layout", options.layout,
                  "Whether channels are the second (nchw) or the last dimension (nhwc); by "
                  "default as the sizes suggest")
      ->check(CLI::IsMember({"nchw", "nhwc"}));
}

namespace {

void add_kernels(CLI::App& app, KernelsOptions& options) {
  CLI::App* command = app.add_subcommand(
      "kernels", "List a model's kernels by time, or show how kernels of IR text are scheduled");
  command
      ->add_option("file", options.model.file,
                   "ONNX file, whose name ends in .onnx, or IR text; - is standard input")
      ->type_name("FILE")
      ->default_str("-");
  add_shapes(*command, options.model);
  add_inputs(*command, options.model);
  add_precision(*command, options.model.precision);
  add_device(*command, options.model);
  command->add_option(
      "--opts", options.schedule,
      "Schedule for kernels of IR text, such as 'tile r0 4; upcast r0.1', or none; by default the "
      "kernel's own, else the one that the cost model ranks best");
  command->add_option("--model", options.device_model,
                      "Schedule kernels of IR text for a device by its description (weft list "
                      "models); their source is the program in IR text");
  command->add_option("--runs", options.runs, "Timed runs of each kernel of a model")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--source", options.source, "Print the source of a model's kernels too");
  command->add_flag("--json", options.json,
                    "Print a JSON object: for a model call_ms, kernels_ms, roof_gflops, "
                    "roof_gbps, kernels");
  command->callback([&options] {
    if (options.model.file.empty()) options.model.file = "-";
    run_kernels(options);
  });
}

void add_run(CLI::App& app, RunOptions& options) {
  CLI::App* command = app.add_subcommand("run", "Run an ONNX model, time it and print its outputs");
  add_model(*command, options.model);
  add_inputs(*command, options.model);
  add_precision_choice(*command, options.model);
  add_images(*command, options.images);
  command
      ->add_option("--out", options.out,
                   "Folder to which outputs are written, as NAME.npy or for strings NAME.txt; it "
                   "is created")
      ->type_name("FOLDER");
  command
      ->add_option("--runs", options.runs,
                   "Number of timed runs, after the first and one that captures the kernels")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--top-k", options.top_k,
                   "Print this many of the highest elements of the first output, along its last "
                   "axis")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--labels", options.labels, "Text file for --top-k with a line for each class")
      ->type_name("FILE");
  command->add_flag("--profile", options.profile,
                    "Run once more and print the time and the nodes of every kernel, on stderr");
  command->add_flag("--json", options.json,
                    "Print a JSON object: load_ms, first_ms, min_ms, median_ms, p90_ms, runs, "
                    "kernels, peak_bytes, outputs");
  command->footer(
      "weft run mnist.onnx --input Input3=digit.png --top-k 1\n"
      "weft run resnet.onnx --shape data=1,3,224,224 --input data=cat.jpg --image-norm "
      "0.485,0.456,0.406,0.229,0.224,0.225 --top-k 5 --labels classes.txt");
  command->callback([&options] { run_run(options); });
}

void add_inspect(CLI::App& app, InspectOptions& options) {
  CLI::App* command =
      app.add_subcommand("inspect",
                         "Print the inputs, outputs, operators and parameters of an ONNX model, "
                         "and what a call costs");
  add_model(*command, options.model);
  command->add_flag("--layouts", options.layouts,
                    "Print the buffers and constants whose layout differs from that in the file");
  command->add_flag("--json", options.json,
                    "Print a JSON object: inputs, outputs, operators, parameters, "
                    "sizes_taken_as_1, call, missing; call has kernels, its cost, turned (buffers "
                    "in another layout) and with --layouts kept (prepacked constants)");
  command->callback([&options] { run_inspect(options); });
}

// 90, 90s, 1.5m or 1h
double seconds_of(const std::string& text) {
  const std::size_t end = text.find_last_not_of("smh");
  const std::string unit = end == std::string::npos ? text : text.substr(end + 1);
  double number = 0;
  const bool is_number =
      CLI::detail::lexical_cast(text.substr(0, text.size() - unit.size()), number);
  if (!is_number || number <= 0 || unit.size() > 1)
    throw CLI::ValidationError("--budget", "'" + text + "' is not a time, such as 90s or 10m");
  return number * (unit == "h" ? 3600 : unit == "m" ? 60 : 1);
}

void add_tune(CLI::App& app, Options& all) {
  TuneModelOptions& options = all.tune;
  CLI::App* command = app.add_subcommand(
      "tune", "Search faster schedules for the kernels of a model and store them for later runs");
  add_model(*command, options.model);
  add_inputs(*command, options.model);
  command
      ->add_option_function<std::string>(
          "--budget", [&options](const std::string& text) { options.seconds = seconds_of(text); },
          "Time for all searches, such as 90s, 10m or 1h; kernels share it in proportion to their "
          "run time")
      ->type_name("TIME")
      ->default_str("60s");
  command
      ->add_option("--beam", options.width,
                   "Number of schedules to begin with, those that the cost model ranks best")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--runs", options.runs, "Number of calls that are timed before and after")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", options.json,
                    "Print a JSON object: before_ms, after_ms, seconds, searched, timed, "
                    "interrupted, kernels");
  command->footer(
      "Ctrl-C ends the search: what it has found is stored and printed, and the exit code is 130.");
  command->callback([&all] {
    if (!run_tune(all.tune)) all.status = 130;
  });
}

std::vector<std::string> words_of(const std::string& text) {
  return text.empty() ? std::vector<std::string>() : CLI::detail::split(text, ',');
}

// NAME:INPUT=SIZES;INPUT=SIZES
CompileOptions::Entry entry_of(const std::string& text) {
  const std::size_t end = std::min(text.find(':'), text.size());
  CompileOptions::Entry entry{text.substr(0, end), {}};
  if (end + 1 >= text.size()) return entry;
  for (const std::string& each : CLI::detail::split(text.substr(end + 1), ';')) {
    const std::size_t equals = each.find('=');
    if (equals == 0 || equals == each.npos)
      throw CLI::ValidationError("--entry", "'" + each + "' is not INPUT=SIZES");
    entry.shapes[each.substr(0, equals)] = words_of(each.substr(equals + 1));
  }
  return entry;
}

std::pair<std::int64_t, std::int64_t> range_of(const std::string& text) {
  std::pair<std::int64_t, std::int64_t> range;
  const std::size_t dots = text.find("..");
  const std::string least = text.substr(0, dots),
                    most = dots == text.npos ? least : text.substr(dots + 2);
  if (!CLI::detail::lexical_cast(least, range.first) || range.first < 1 ||
      !CLI::detail::lexical_cast(most, range.second) || range.second < range.first)
    throw CLI::ValidationError("--size", "'" + text + "' is neither a size nor LEAST..MOST");
  return range;
}

// What calls of the library are.
void add_calls(CLI::App& command, CompileOptions& options) {
  add_named(command, "--shape", "NAME=SIZES",
            "NAME=1,3,224,224: sizes of an input where the file leaves them open. A word in place "
            "of a number is a size that --size defines. Repeatable",
            [&options](const std::string& name, const std::string& sizes) {
              options.shapes[name] = words_of(sizes);
            });
  add_named(command, "--size", "NAME=LEAST..MOST",
            "Size that the file or --shape calls NAME: a number, or LEAST..MOST for one that "
            "every call passes. Repeatable",
            [&options](const std::string& name, const std::string& range) {
              options.sizes[name] = range_of(range);
            });
  add_named(command, "--state", "INPUT=OUTPUT",
            "Input that is this output of the previous call, and zeros at first: state that lasts "
            "between calls. Repeatable",
            [&options](const std::string& input, const std::string& output) {
              options.state[input] = output;
            });
  command
      .add_option_function<std::vector<std::string>>(
          "--entry",
          [&options](const std::vector<std::string>& given) {
            for (const std::string& each : given) options.entries.push_back(entry_of(each));
          },
          "NAME:INPUT=SIZES;INPUT=SIZES: an entry point NAME_run with other input sizes than "
          "--shape says. Entry points share weights and state. Repeatable")
      ->type_name("NAME:SHAPES")
      ->allow_extra_args(false);
}

void add_compile(CLI::App& app, CompileOptions& options) {
  CLI::App* command = app.add_subcommand(
      "compile", "Write an ONNX model as a C library that does not depend on weft");
  command->add_option("model", options.model.file, "ONNX file")->required()->type_name("FILE");
  command
      ->add_option("-o,--out", options.folder,
                   "Folder for NAME.h, NAME.weights and the code; it is created")
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option(
          "--target", options.library.target,
          "Processor that runs it: cpu=native, cpu=x86-64-v2, -v3 or -v4, cpu=aarch64 or a model "
          "of it such as cpu=aarch64,cortex-a78ae, cpu=riscv64, cpu=riscv64,v with vectors; or c, "
          "source for any C99 compiler")
      ->type_name("TARGET")
      ->capture_default_str();
  static const std::map<std::string, ExportKind> kinds{{"object", ExportKind::Object},
                                                       {"static", ExportKind::Static},
                                                       {"shared", ExportKind::Shared}};
  command
      ->add_option("--kind", options.library.kinds,
                   "Form of the code, one or several: object (NAME.o, or NAME.c), static "
                   "(NAME.a), shared (NAME.so, linked by the C compiler CC)")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(kinds).description(""))
      ->type_name("object,static,shared")
      ->default_str("object");
  command
      ->add_option("--name", options.library.name,
                   "NAME of the files and of their functions: NAME_run, NAME_verify, "
                   "NAME_description")
      ->capture_default_str();
  add_calls(*command, options);
  add_precision(*command, options.model.precision);
  command
      ->add_option_function<std::string>(
          "--tune",
          [&options](const std::string& text) { options.tune_seconds = seconds_of(text); },
          "Search schedules for this time first, such as 60s or 10m; only for cpu=native and "
          "fixed sizes")
      ->type_name("TIME");
  command
      ->add_option("--threads", options.model.threads,
                   "Largest number of threads that share a call; by default one for each core of "
                   "this machine, or as many as the target has")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options.json,
                    "Print a JSON object: calls, weights_bytes, workspace_bytes, state_bytes, "
                    "files");
  command->footer("weft compile resnet.onnx -o exported --shape data=1,3,224,224 --name resnet");
  command->callback([&options] { run_compile(options); });
}

}  // namespace

void add_model_commands(CLI::App& app, Options& options) {
  add_run(app, options.run);
  add_compare(app, options.compare);
  add_inspect(app, options.inspect);
  add_kernels(app, options.kernels);
  add_tune(app, options);
  add_compile(app, options.compile);
  add_quantize(app, options.quantize);
}

}  // namespace weft::cli
