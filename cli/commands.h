// The subcommands. They know nothing of the command line: main.cpp fills in their options.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/export.h>
#include <weft/onnx.h>

namespace weft::cli {

// IR text in, passes, IR text out.
struct OptOptions {
  std::vector<std::string> passes;  // empty: the whole pipeline
  std::string device;               // whose passes; empty: one that takes kernels as scheduled
  std::string file = "-";
  bool trace = false, renumber = false, validate = false, check_loops = false;
};
void run_opt(const OptOptions& options);

// Cases of the ONNX standard, run and compared. Throws where one fails.
struct OnnxTestOptions {
  std::vector<std::string> folders;
  std::string device;    // empty: the default device
  std::string expected;  // a file of cases that fail, each with the reason: NAME WHY
  double rtol = 1e-3, atol = 1e-7;
  onnx::Precision precision = onnx::Precision::F32;  // of all layers
  int jobs = 1;                                      // processes; one runs in this one
  bool json = false;
};
void run_onnx_test(const OnnxTestOptions& options);

// What layers of a model multiply, or how that is found.
struct PrecisionOptions {
  std::vector<onnx::Precision> all = {};  // of all layers: one; to choose from, any number
  onnx::Precisions layers = {};           // of these
  std::string file = {};                  // that says it of more layers; empty: none
  std::optional<double> max_error = {};   // of the outputs: precisions are chosen
  std::string save = {};                  // the file for what is chosen; empty: none
};

// A model of an ONNX file, and what it is called with.
struct ModelOptions {
  std::string file;
  std::map<std::string, std::vector<std::int64_t>> shapes;  // of inputs
  std::map<std::string, std::string> inputs;                // files by name
  std::vector<std::string> samples;  // files with all inputs of a call or of several, or folders
  std::string device;                // empty: the default device
  int threads = 0;                   // 0: as many as there are cores
  PrecisionOptions precision;
};

// Kernels as text in; how each is scheduled, and its source, out. Of a model the kernels of a call, by their times.
struct KernelsOptions {
  ModelOptions model;        // the file may be one of IR text ("-": standard input)
  std::string schedule;      // empty: the kernel's own, else the model's choice
  std::string device_model;  // schedules are chosen for it; empty: for the device
  int runs = 10;             // of a model, that are timed
  bool source = false, json = false;
};
void run_kernels(const KernelsOptions& options);
void run_model_kernels(const KernelsOptions& options);

// How images become inputs.
struct ImageOptions {
  std::vector<double> norm;  // means, then deviations, of values from 0 to 1; empty: neither
  std::string layout;        // nchw, nhwc; empty: as the sizes of the input suggest
};

// Runs a model, times it and says what it gives.
struct RunOptions {
  ModelOptions model;
  ImageOptions images;
  std::string out;  // a folder for the outputs; empty: they are not kept
  int runs = 10;    // that are timed
  int top_k = 0;
  std::string labels;  // a file, a line for each class
  bool profile = false, json = false;
};
void run_run(const RunOptions& options);

// Runs a model in f32 and in cheaper numbers, and says of each layer how far it is off.
struct CompareOptions {
  ModelOptions model;
  ImageOptions images;
  bool sort = false, json = false;
};
void run_compare(const CompareOptions& options);

// Writes a model of floats as one whose products are of 8-bit integers.
struct QuantizeOptions {
  ModelOptions model;
  ImageOptions images;
  std::string out;
  std::string method = "minmax";
  double percentile = 99.99;
  std::vector<std::string> exclude;  // names of nodes
  bool per_channel = false, dynamic = false, json = false;
};
void run_quantize(const QuantizeOptions& options);

// Says what a model is made of and what a call takes, without one.
struct InspectOptions {
  ModelOptions model;
  bool json = false;
  bool layouts = false;
};
void run_inspect(const InspectOptions& options);

// Times calls: of a model, of a function that is made here, or what comes before the first result.
struct BenchOptions {
  enum What : char { Onnx, Compile, Matmul, Conv2d, OneOp, Launch };
  struct Conv {
    std::array<std::int64_t, 6> sizes{};  // images, channels, height, width, filters, their window
    std::int64_t stride = 1, padding = 0, groups = 1;
  };

  What what = Onnx;
  ModelOptions model;                    // with a file for Onnx and Compile
  std::array<std::int64_t, 3> matmul{};  // rows, what is summed over, columns
  Conv conv;
  std::string op;
  std::vector<std::vector<std::int64_t>> shapes;  // of the op's operands, or one for all
  std::string dtype = "f32";
  int runs = 20;
  bool cold = true, json = false;
};
void run_bench(const BenchOptions& options);

// Searches schedules for a model's kernels. False where it was interrupted.
struct TuneModelOptions {
  ModelOptions model;
  double seconds = 60;     // for all searches
  std::int64_t width = 8;  // as BEAM
  int runs = 10;           // by which times are compared
  bool json = false;
};
bool run_tune(const TuneModelOptions& options);
// The searches alone, for what this process does next.
void search_schedules(const TuneModelOptions& options);

// Writes a model as a library in C.
struct CompileOptions {
  // The sizes of inputs: numbers, and names of open ones.
  using Shapes = std::map<std::string, std::vector<std::string>>;
  struct Entry {
    std::string name;
    Shapes shapes;
  };

  ModelOptions model;
  std::string folder;
  ExportOptions library;
  Shapes shapes;                                                       // of all entry points
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> sizes;  // the least and the most
  std::vector<Entry> entries;                                          // none: one without a name
  std::map<std::string, std::string> state;  // outputs, by the inputs that they become
  double tune_seconds = 0;
  bool json = false;
};
void run_compile(const CompileOptions& options);

// What is kept on disk.
struct CacheOptions {
  enum What : char { Size, Clear, Export, Import };
  What what = Size;
  std::string file;   // "-": standard output
  std::string limit;  // for the folder from now on, if any
  bool tunings = false, json = false;
};
void run_cache(const CacheOptions& options);

// Which devices there are, and what they can do here.
void run_devices(bool json);

// One expression followed through every pass.
void run_demo();

// What there is, by kind.
struct Listing {
  const char* name;
  const char* what;
  void (*print)();
};
std::span<const Listing> listings();

}  // namespace weft::cli
