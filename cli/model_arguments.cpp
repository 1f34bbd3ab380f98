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
      throw CLI::ValidationError(argument, "'" + each + "' is no size");
    sizes.push_back(size);
  }
  return sizes;
}

void add_shapes(CLI::App& command, ModelOptions& options) {
  add_named(command, "--shape", "NAME=SIZES",
            "NAME=1,3,224,224: the sizes of an input, where the file leaves them open; those that "
            "nothing says are 1. Again for more inputs",
            [&options](const std::string& name, const std::string& sizes) {
              options.shapes[name] = sizes_of(sizes, "--shape", ',');
            });
}

void add_inputs(CLI::App& command, ModelOptions& options) {
  add_named(
      command, "--input", "NAME=FILE",
      "NAME=FILE: an input from a .npy, .npz (the array of that name, or the only one), .pb "
      "(TensorProto), an image (.png, .jpg and others: resized, laid out and normalised as the "
      "input wants it), or for strings a text, a string in each line. NAME=3 is that number "
      "everywhere. NAME=random, as all that are not named: from 0 to 1, integers 0, 1, 2 ... "
      "Again for more inputs",
      [&options](const std::string& name, const std::string& file) {
        options.inputs[name] = file;
      });
}

CLI::Option* add_samples(CLI::App& command, ModelOptions& options, const std::string& flag,
                         const std::string& meaning) {
  return command
      .add_option(flag, options.samples,
                  meaning +
                      ", or folders of them. One is for all inputs, so that several need .npz "
                      "with an array each; along its first axis it may have values for several "
                      "calls")
      ->type_name("FILE");
}

void add_device(CLI::App& command, ModelOptions& options) {
  command.add_option("--device", options.device, "The device to run on; by default DEV");
  command.add_option("--threads", options.threads, "So many threads; by default one for each core")
      ->check(CLI::PositiveNumber);
}

void add_model(CLI::App& command, ModelOptions& options) {
  command.add_option("model", options.file, "An ONNX file")->required()->type_name("FILE");
  add_shapes(command, options);
  add_precision(command, options.precision);
  add_device(command, options);
}

void add_images(CLI::App& command, ImageOptions& options) {
  command
      .add_option(
          "--image-norm", options.norm,
          "MEAN,...,STD,... for each channel, or one of each: images are (x - mean) / std, x from "
          "0 to 1, so that 0,0.00392157 gives 0 to 255. By default floats are x and "
          "integers from 0 to 255")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--layout", options.layout,
                  "Where images have their channels; by default where the sizes suggest it")
      ->check(CLI::IsMember({"nchw", "nhwc"}));
}

namespace {

void add_kernels(CLI::App& app, KernelsOptions& options) {
  CLI::App* command = app.add_subcommand(
      "kernels",
      "Show how kernels are scheduled: of a model by their times, of IR text with source");
  command
      ->add_option("file", options.model.file,
                   "An ONNX file, whose name ends in .onnx, or IR text; - is standard input")
      ->type_name("FILE")
      ->default_str("-");
  add_shapes(*command, options.model);
  add_inputs(*command, options.model);
  add_precision(*command, options.model.precision);
  add_device(*command, options.model);
  command->add_option(
      "--opts", options.schedule,
      "The actions to schedule kernels of IR text by, such as 'tile r0 4; upcast r0.1', or none; "
      "by "
      "default what the kernel asks for, else what the cost model expects to be fastest");
  command->add_option("--runs", options.runs, "Time each kernel of a model so often")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--source", options.source, "Print the source of a model's kernels too");
  command->add_flag("--json", options.json,
                    "Print one object instead; of a model call_ms, kernels_ms, roof_gflops, "
                    "roof_gbps, kernels");
  command->callback([&options] {
    if (options.model.file.empty()) options.model.file = "-";
    run_kernels(options);
  });
}

void add_run(CLI::App& app, RunOptions& options) {
  CLI::App* command =
      app.add_subcommand("run", "Run an ONNX model, time it and print what it gives");
  add_model(*command, options.model);
  add_inputs(*command, options.model);
  add_precision_choice(*command, options.model);
  add_images(*command, options.images);
  command
      ->add_option("--out", options.out,
                   "A folder, which is made: outputs are written there as NAME.npy, strings as "
                   "NAME.txt")
      ->type_name("FOLDER");
  command
      ->add_option("--runs", options.runs,
                   "So many runs are timed, after the first and one that captures the kernels")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--top-k", options.top_k,
                   "Print so many of the highest elements of the first output, along its last axis")
      ->check(CLI::PositiveNumber);
  command->add_option("--labels", options.labels, "A text for --top-k, a line for each class")
      ->type_name("FILE");
  command->add_flag("--profile", options.profile,
                    "Run once more and print the time of every kernel, on stderr");
  command->add_flag("--json", options.json,
                    "Print one object instead: load_ms, first_ms, min_ms, median_ms, p90_ms, runs, "
                    "kernels, peak_bytes, outputs");
  command->footer(
      "weft run mnist.onnx --input Input3=digit.png --top-k 1\n"
      "weft run resnet.onnx --shape data=1,3,224,224 --input data=cat.jpg "
      "--image-norm 0.485,0.456,0.406,0.229,0.224,0.225 --top-k 5 --labels classes.txt");
  command->callback([&options] { run_run(options); });
}

void add_inspect(CLI::App& app, InspectOptions& options) {
  CLI::App* command =
      app.add_subcommand("inspect", "Print what an ONNX model is made of and what a call takes");
  add_model(*command, options.model);
  command->add_flag(
      "--layouts", options.layouts,
      "What lies in another order than the file has it: memory between kernels, and constants");
  command->add_flag("--json", options.json,
                    "Print one object instead: inputs, outputs, operators, parameters, "
                    "sizes_taken_as_1, call, missing; a call has kernels, what it takes, turned "
                    "memory, and with --layouts kept constants");
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
    throw CLI::ValidationError("--budget", "'" + text + "' is no time, such as 90s or 10m");
  return number * (unit == "h" ? 3600 : unit == "m" ? 60 : 1);
}

void add_tune(CLI::App& app, Options& all) {
  TuneModelOptions& options = all.tune;
  CLI::App* command = app.add_subcommand(
      "tune", "Search faster schedules for the kernels of a model, which are kept for later runs");
  add_model(*command, options.model);
  add_inputs(*command, options.model);
  command
      ->add_option_function<std::string>(
          "--budget", [&options](const std::string& text) { options.seconds = seconds_of(text); },
          "The time for all searches, such as 90s, 10m or 1h: kernels get of it by what they take")
      ->type_name("TIME")
      ->default_str("60s");
  command
      ->add_option("--beam", options.width,
                   "Begin with so many schedules that the model of the machine finds best")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--runs", options.runs, "So many calls are timed before and after")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", options.json,
                    "Print one object instead: before_ms, after_ms, seconds, searched, timed, "
                    "interrupted, kernels");
  command->footer(
      "Ctrl-C ends the searches: what they have found is kept and printed, and the exit code is "
      "130.");
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
            "NAME=1,3,224,224: the sizes of an input, where the file leaves them open. A word in "
            "place of a number is a size that --size says. Again for more inputs",
            [&options](const std::string& name, const std::string& sizes) {
              options.shapes[name] = words_of(sizes);
            });
  add_named(command, "--size", "NAME=LEAST..MOST",
            "A size that the file, or --shape, has by that name: a number, or with LEAST..MOST "
            "one that every call says. Again for more",
            [&options](const std::string& name, const std::string& range) {
              options.sizes[name] = range_of(range);
            });
  add_named(command, "--state", "INPUT=OUTPUT",
            "An input that is what the call before gave as that output, and zeros at first: memory "
            "that lasts. Again for more",
            [&options](const std::string& input, const std::string& output) {
              options.state[input] = output;
            });
  command
      .add_option_function<std::vector<std::string>>(
          "--entry",
          [&options](const std::vector<std::string>& given) {
            for (const std::string& each : given) options.entries.push_back(entry_of(each));
          },
          "NAME:INPUT=SIZES;INPUT=SIZES: an entry point NAME_run with inputs of other sizes than "
          "--shape says. Several share weights and state. Again for more")
      ->type_name("NAME:SHAPES")
      ->allow_extra_args(false);
}

void add_compile(CLI::App& app, CompileOptions& options) {
  CLI::App* command = app.add_subcommand(
      "compile", "Write an ONNX model as a library in C that needs nothing of weft");
  command->add_option("model", options.model.file, "An ONNX file")->required()->type_name("FILE");
  command
      ->add_option("-o,--out", options.folder,
                   "A folder, which is made: NAME.h, NAME.weights and the code go there")
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option(
          "--target", options.library.target,
          "What runs it: cpu=native, cpu=x86-64-v2, -v3 or -v4, cpu=aarch64 or a model of that, "
          "such as "
          "cpu=aarch64,cortex-a78ae, cpu=riscv64, cpu=riscv64,v with vectors, or c: source for any "
          "compiler of C99")
      ->type_name("TARGET")
      ->capture_default_str();
  static const std::map<std::string, ExportKind> kinds{{"object", ExportKind::Object},
                                                       {"static", ExportKind::Static},
                                                       {"shared", ExportKind::Shared}};
  command
      ->add_option("--kind", options.library.kinds,
                   "What the code comes in, one or several: object (NAME.o, or NAME.c), static "
                   "(NAME.a), shared (NAME.so, linked by the C compiler CC)")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(kinds).description(""))
      ->type_name("object,static,shared")
      ->default_str("object");
  command
      ->add_option("--name", options.library.name,
                   "Of the files and of what they define: NAME_run, NAME_verify, NAME_description")
      ->capture_default_str();
  add_calls(*command, options);
  add_precision(*command, options.model.precision);
  command
      ->add_option_function<std::string>(
          "--tune",
          [&options](const std::string& text) { options.tune_seconds = seconds_of(text); },
          "Search schedules for so long first, such as 60s or 10m (cpu=native, sizes that are "
          "fixed)")
      ->type_name("TIME");
  command
      ->add_option("--threads", options.model.threads,
                   "So many threads may share in a call, of those that the program has; by default "
                   "one for each core, here or as the target has them")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options.json,
                    "Print one object instead: calls, weights_bytes, workspace_bytes, state_bytes, "
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
