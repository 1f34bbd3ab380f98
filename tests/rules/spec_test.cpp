#include <regex>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/ir/text.h>
#include <weft/dev/rules/spec.h>
#include <weft/error.h>

#include "../support/nodes.h"

namespace weft {
namespace {

// What the graphs below build on; each goes on from %20 and returns its last node. What it does
// not reach is not part of it.
constexpr std::string_view common = R"(
  %0 = const 16 : index
  %1 = const true : bool
  %2 = const 1.5 : f32
  %3 = range %0 {id = 0, kind = loop} : index
  %4 = range %0 {id = 1, kind = reduce} : index
  %5 = param %0 {slot = 0, access = readwrite, alias = 0} : f32
  %6 = index %5, %1, %3 : f32
  %7 = load %6 : f32
  %8 = store %6, %2 {combine = false, op = add}
  %9 = buffer %0 {id = 0, space = global, align = 0, swizzle = 0, device = "CPU"} : f32
  %10 = const 3 : i32
  %11 = const 2 : i64
  %12 = variable {name = "n", id = 0, lo = 1, hi = 16} : index
  %13 = tuple %0
  %14 = mul %2, %9 : f32
  %15 = index %5, %1, %4 : f32
  %16 = load %15 : f32
  %17 = const 1.5 : f32x4
  %18 = if %1
  %19 = const 7 : index
)";

struct Case {
  std::string_view findings;  // a line each, without the number of the node
  std::string_view nodes;
};

UOp parsed(std::string_view nodes) {
  int last = 20;
  while (nodes.find(fmt::format("%{} = ", last + 1)) != nodes.npos) ++last;
  return parse_node(fmt::format("graph g {{{}{}\nreturn %{} }}", common, nodes, last));
}

// A line each.
std::string violations(NodeList roots, Level level) {
  return fmt::format("{}", fmt::join(spec_violations(roots, level), "\n"));
}
std::string violations(const UOp& root, Level level) { return violations(nodes_of({root}), level); }

void expect_legal(std::span<const std::string_view> graphs, Level level) {
  for (std::string_view nodes : graphs) {
    Arena arena;
    const InternerScope scope(arena);
    SCOPED_TRACE(nodes);
    EXPECT_EQ(violations(parsed(nodes), level), "");
  }
}

void expect_illegal(std::span<const Case> cases, Level level) {
  for (const Case& c : cases) {
    Arena arena;
    const InternerScope scope(arena);
    SCOPED_TRACE(c.nodes);
    const std::string findings = violations(parsed(c.nodes), level);
    EXPECT_EQ(std::regex_replace(findings, std::regex("%\\d+ "), ""), c.findings);
  }
}

// clang-format off
constexpr Case illegal_values[] = {
  {"variable: not a scalar integer with lo <= hi inside its dtype",
   R"(%20 = variable {name = "v", id = 1, lo = 3, hi = 2} : i32)"},
  {"variable: not a scalar integer with lo <= hi inside its dtype",
   R"(%20 = variable {name = "v", id = 1, lo = 0, hi = 128} : i8)"},
  {"variable: not a scalar integer with lo <= hi inside its dtype",
   R"(%20 = variable {name = "v", id = 1, lo = -1, hi = 1} : u64)"},
  {"variable: not a scalar integer with lo <= hi inside its dtype",
   R"(%20 = variable {name = "v", id = 1, lo = 0, hi = 1} : f32)"},
  {"counter: not a scalar integer",
   "%20 = counter {id = 1} : f32"},
  {"neg: an operand or the result is not a number",
   "%20 = neg %13"},
  {"cast: the operands and the result differ in lanes",
   "%20 = cast %17 : f16"},
  {"where: the operands and the result differ in lanes",
   "%20 = where %1, %17, %17 : f32x4"},
  {"bitcast: the widths differ",
   "%20 = bitcast %2 : f16"},
  {"bitcast: dtype index has no bits: cast it to an integer first",
   "%20 = bitcast %0 : i64"},
  {"bitcast: dtype index has no bits: cast it to an integer first",
   "%20 = bitcast %11 : index"},
};

constexpr Case illegal_loops[] = {
  {"range: the size is not a scalar integer",
   "%20 = range %2 {id = 2, kind = loop} : f32"},
  {"end: a size changes with a loop that is not around it",
   R"(%20 = add %4, %0 : index
      %21 = range %20 {id = 2, kind = loop} : index
      %22 = end %8, %21)"},
  {"special: the size changes with a range",
   "%20 = special %3 {kind = global, axis = 0} : index"},
  {"special: the axis is negative",
   "%20 = special %0 {kind = global, axis = -1} : index"},
  {"end: what it closes are not RANGEs, each once",
   "%20 = end %8, %19"},
  {"reduce: what it closes are not RANGEs, each once",
   "%20 = reduce %7, %3, %3 {op = add, axes = []} : f32"},
  {"end: what it repeats has no effect",
   "%20 = end %7, %3"},
  {"reduce: reduces neither values nor a tuple of them",
   "%20 = reduce %8, %3 {op = add, axes = []}"},
  {"reduce: combines by an op other than add, mul and max",
   "%20 = reduce %7, %3 {op = sub, axes = []} : f32"},
  {"allreduce: combines by an op other than add, mul and max",
   "%20 = allreduce %9 {op = and, axes = []} : f32"},
  {"reduce: reduces over both axes and ranges, or over neither",
   "%20 = reduce %9, %3 {op = add, axes = [0]} : f32"},
  {"reduce: reduces over both axes and ranges, or over neither",
   "%20 = reduce %9 {op = add, axes = []} : f32"},
  {"range: another node of this op has the same id",
   R"(%20 = range %19 {id = 0, kind = loop} : index
      %21 = add %3, %20 : index)"},
  {"variable: another node of this op has the same id",
   R"(%20 = variable {name = "n", id = 0, lo = 1, hi = 17} : index
      %21 = add %12, %20 : index)"},
  {"stage: another node of this op has the same id",
   R"(%20 = stage %7, %3 {id = 0, space = shared, layout = []} : f32
      %21 = stage %2, %3 {id = 0, space = shared, layout = []} : f32
      %22 = sink %20, %21 {name = "", schedule = "", far_constants = false})"},
};

constexpr Case illegal_memory[] = {
  {"param: holds nothing",
   "%20 = param %0 {slot = 1, access = read, alias = 0}"},
  {"buffer: a dimension changes with a range",
   R"(%20 = buffer %3 {id = 1, space = global, align = 0, swizzle = 0, device = ""} : f32)"},
  {"buffer: the alignment is not a power of two, or the swizzle is negative",
   R"(%20 = buffer %0 {id = 1, space = shared, align = 24, swizzle = 0, device = ""} : f32)"},
  {"buffer: the alignment is not a power of two, or the swizzle is negative",
   R"(%20 = buffer %0 {id = 1, space = shared, align = 64, swizzle = -1, device = ""} : f32)"},
  {"buffer: dtype index has no width in memory: cast it to an integer first",
   R"(%20 = buffer %0 {id = 1, space = global, align = 0, swizzle = 0, device = ""} : index)"},
  {"stage: dtype index has no width in memory: cast it to an integer first",
   "%20 = stage %3, %3 {id = 0, space = shared, layout = []} : index"},
  {"stage: what it closes are not RANGEs, each once",
   "%20 = stage %7, %3, %3 {id = 0, space = shared, layout = []} : f32"},
  {"param: the slot is negative",
   "%20 = param %0 {slot = -1, access = read, alias = 0} : f32"},
  {"stage: the layout is not a permutation of the ranges",
   "%20 = stage %7, %3 {id = 0, space = shared, layout = [1]} : f32"},
  {"stage: the layout is not a permutation of the ranges",
   R"(%20 = add %7, %16 : f32
      %21 = stage %20, %3, %4 {id = 0, space = shared, layout = [1, 1]} : f32)"},
  {"index: the validity is not a bool",
   "%20 = index %9, %10, %3 : f32"},
  {"index: not one integer for each dimension",
   "%20 = index %9, %1 : f32"},
  {"index: not one integer for each dimension",
   "%20 = index %9, %1, %3, %3 : f32"},
  {"index: not one integer for each dimension",
   "%20 = index %9, %1, %2 : f32"},
  {"index: not one integer for each dimension",
   R"(%20 = stage %7, %3 {id = 0, space = shared, layout = []} : f32
      %21 = index %20, %1, %3, %3 : f32)"},
  {"add: a source is a place (INDEX) where a value should be",
   "%20 = add %6, %2 : f32"},
  {"store: a source is a place (INDEX) where a value should be",
   "%20 = store %6, %15 {combine = false, op = add}"},
  {"load: source 0 is not an INDEX",
   "%20 = load %9 : f32"},
  {"store: source 0 is neither an INDEX nor a view of memory",
   "%20 = store %2, %2 {combine = false, op = add}"},
  {"load: reads a param that may only be written",
   R"(%20 = param %0 {slot = 1, access = write, alias = 0} : f32
      %21 = index %20, %1, %3 : f32
      %22 = load %21 : f32)"},
  {"load: what stands for invalid places is not one value of the dtype",
   "%20 = load %6, %10 : f32"},
  {"load: what stands for invalid places is not one value of the dtype",
   "%20 = load %6, %2, %2 : f32"},
  {"store: writes a param that may only be read",
   R"(%20 = param %0 {slot = 1, access = read, alias = 0} : f32
      %21 = after %20, %8 : f32
      %22 = index %21, %1, %3 : f32
      %23 = store %22, %2 {combine = false, op = add})"},
  {"store: the value is not of the buffer's dtype",
   "%20 = store %6, %10 {combine = false, op = add}"},
  {"store: combines by an op other than add, mul and max",
   "%20 = store %6, %2 {combine = true, op = xor}"},
  {"store: an earlier reader is neither a LOAD nor an effect",
   "%20 = store %6, %2, %2 {combine = false, op = add}"},
  {"after: what it comes after has no effect",
   "%20 = after %9, %2 : f32"},
  {"after: what it comes after has no effect",
   R"(%20 = tuple %8, %3
      %21 = after %9, %20 : f32)"},
  {"async_copy: the sources are not INDEXes of one dtype",
   "%20 = async_copy %6, %7"},
  {"wait: waits for what is not an ASYNC_COPY",
   "%20 = wait %8 {at = 0}"},
  {"wait: waits for a negative number",
   R"(%20 = async_copy %6, %15
      %21 = wait %20 {at = -1})"},
};

constexpr Case illegal_graphs[] = {
  {"barrier: what it waits for has no effect",
   "%20 = barrier %2 {scope = group}"},
  {"barrier: a loop around it differs from worker to worker",
   R"(%20 = special %0 {kind = local, axis = 0} : index
      %21 = range %20 {id = 5, kind = loop} : index
      %22 = barrier %21 {scope = group})"},
  {"barrier: a loop around it differs from worker to worker",
   R"(%20 = index %9, %1, %19 : f32
      %21 = load %20 : f32
      %22 = cast %21 : i32
      %23 = range %22 {id = 5, kind = loop} : i32
      %24 = index %5, %1, %23 : f32
      %25 = store %24, %2 {combine = false, op = add}
      %26 = barrier %25 {scope = group})"},
  {"endif: a barrier under a condition that not all workers share",
   R"(%20 = special %0 {kind = local, axis = 0} : index
      %21 = cmplt %20, %19 : bool
      %22 = if %21
      %23 = after %9, %22 : f32
      %24 = index %23, %1, %19 : f32
      %25 = store %24, %2 {combine = false, op = add}
      %26 = barrier %25 {scope = group}
      %27 = endif %22, %26)"},
  {"if: the condition is not a scalar bool",
   "%20 = if %10"},
  {"endif: source 0 is not an IF",
   "%20 = endif %8"},
  {"gettuple: there is no value of this dtype at the position",
   "%20 = gettuple %13 {at = 1} : index"},
  {"gettuple: there is no value of this dtype at the position",
   "%20 = gettuple %13 {at = -1} : index"},
  {"gettuple: there is no value of this dtype at the position",
   "%20 = gettuple %13 {at = 0} : i32"},
  {"gettuple: there is no value of this dtype at the position",
   "%20 = gettuple %2 {at = 0} : f32"},
  {"bind: does not bind a variable to an integer inside its bounds",
   "%20 = bind %0, %0 : index"},
  {"bind: does not bind a variable to an integer inside its bounds",
   R"(%20 = const 17 : index
      %21 = bind %12, %20 : index)"},
  {"gettuple: there is no value of this dtype at the position",
   R"(%20 = tuple %6
      %21 = gettuple %20 {at = 0} : f32)"},
  {"gettuple: dtype index has no width in a list that is handed on: cast it to an integer first",
   R"(%20 = tuple %7, %3
      %21 = reduce %20, %3 {op = max, axes = []}
      %22 = gettuple %21 {at = 1} : index)"},
  {"contiguous: dtype index has no width in memory: cast it to an integer first",
   "%20 = contiguous %0 : index"},
  {"shuffle: dtype index has no width in memory: cast it to an integer first",
   "%20 = shuffle %0, %10 : index"},
  {"shard: the axis is outside the shape",
   R"(%20 = shard %9 {axis = 1, devices = "A,B"} : f32)"},
  {"shard: the axis is outside the shape",
   R"(%20 = shard %9 {axis = -2, devices = "A,B"} : f32)"},
  {"shard: a device has two parts",
   R"(%20 = shard %9 {axis = 0, devices = "A,B,A"} : f32)"},
  {"multi: not a part for each device",
   R"(%20 = multi %9, %9 {axis = -1, devices = "A,B,C"} : f32)"},
  {"multi: the parts differ in dtype",
   R"(%20 = cast %9 : f16
      %21 = multi %9, %20 {axis = 0, devices = "A,B"} : f32)"},
  {"splat: does not repeat a scalar of its own dtype",
   "%20 = splat %2 : f16x4"},
  {"splat: does not repeat a scalar of its own dtype",
   "%20 = splat %17 : f32x8"},
  {"lane: the vector has no such lane",
   "%20 = lane %17 {at = 4} : f32"},
  {"lane: the lanes are not numbers",
   "%20 = lane %13 {at = 0}"},
  {"shuffle: the lane is not a scalar integer",
   "%20 = shuffle %7, %2 : f32"},
  {"mma: a source or the result is neither a fragment nor a vector",
   R"(%20 = mma %2, %2, %2 {name = "m16n8k16"} : f32)"},
  {"mma: what it adds to is of another dtype",
   R"(%20 = mma %17, %17, %17 {name = "m16n8k16"} : f32x8)"},
};

constexpr Case beyond_tensor[] = {
  {"index: source 0 is not a buffer, param, stage or other storage",
   "%20 = index %14, %1, %19 : f32"},
  {"index: source 0 is not a buffer, param, stage or other storage",
   R"(%20 = tuple %14
      %21 = gettuple %20 {at = 0} : f32
      %22 = index %21, %1, %19 : f32)"},
  {"range: not closed by exactly one END, REDUCE or STAGE",
   "%20 = tuple %3"},
  {"stage: only a function of its ranges, in registers, is no kernel's",
   "%20 = stage %2, %3 {id = 0, space = scratch, layout = []} : f32"},
  {"special: belongs to kernels",
   "%20 = special %0 {kind = global, axis = 0} : index"},
  {"if: belongs to kernels",
   "%20 = tuple %18"},
  {"barrier: belongs to kernels",
   "%20 = barrier {scope = device}"},
  {"const: vectors and fragments belong to kernels",
   "%20 = tuple %17"},
  {"custom: vectors and fragments belong to kernels",
   R"(%20 = custom {code = ""} : fragment<a>)"},
  {"shuffle: vectors and fragments belong to kernels",
   "%20 = shuffle %2, %10 : f32"},
};

constexpr Case beyond_kernel[] = {
  {"end: its loops store into memory of which they read another element",
   R"(%20 = buffer %0 {id = 1, space = scratch, align = 0, swizzle = 0, device = ""} : f32
      %21 = index %20, %1, %3 : f32
      %22 = store %21, %2 {combine = false, op = add}
      %23 = end %22, %3
      %24 = after %20, %23 : f32
      %25 = range %0 {id = 2, kind = loop} : index
      %26 = sub %19, %25 : index
      %27 = cmplt %25, %19 : bool
      %28 = index %24, %27, %26 : f32
      %29 = load %28 : f32
      %30 = index %20, %1, %25 : f32
      %31 = store %30, %29 {combine = false, op = add}
      %32 = end %31, %25
      %33 = after %20, %32 : f32
      %34 = index %33, %1, %19 : f32
      %35 = load %34 : f32
      %36 = index %5, %1, %19 : f32
      %37 = store %36, %35 {combine = false, op = add}
      %38 = sink %37 {name = "k", schedule = "", far_constants = false})"},
  {"mul: a source is a buffer where a value should be\n"
   "index: source 0 is not a buffer, param, stage or other storage",
   R"(%20 = index %14, %1, %3 : f32
      %21 = load %20 : f32
      %22 = store %6, %21 {combine = false, op = add}
      %23 = tuple %8, %22
      %24 = end %23, %3
      %25 = sink %24 {name = "k", schedule = "", far_constants = false})"},
  {"reshape: in a kernel, movement is arithmetic on indices",
   R"(%20 = const 1 : index
      %21 = tuple %20
      %22 = reshape %2, %21 : f32
      %23 = sink %22 {name = "k", schedule = "", far_constants = false})"},
  {"reshape: in a kernel, movement is arithmetic on indices\n"
   "reduce: a kernel reduces over ranges, not axes",
   R"(%20 = const 1 : index
      %21 = tuple %20
      %22 = reshape %2, %21 : f32
      %23 = reduce %22 {op = add, axes = [0]} : f32
      %24 = sink %23 {name = "k", schedule = "", far_constants = false})"},
  {"contiguous: belongs to the tensor graph",
   R"(%20 = contiguous %2 : f32
      %21 = sink %20 {name = "k", schedule = "", far_constants = false})"},
  {"bind: belongs to the tensor graph",
   R"(%20 = bind %12, %19 : index
      %21 = sink %20 {name = "k", schedule = "", far_constants = false})"},
  {"tuple: a kernel is what lies below one SINK",
   "%20 = tuple %2"},
  {"sink: a kernel is what lies below one SINK",
   R"(%20 = sink {name = "a", schedule = "", far_constants = false}
      %21 = sink %20 {name = "b", schedule = "", far_constants = false})"},
  {"sink: a range is still open",
   R"(%20 = end %8, %3
      %21 = sink %20, %7 {name = "k", schedule = "", far_constants = false})"},
  {"range: not closed by exactly one END, REDUCE or STAGE",
   R"(%20 = end %8, %3
      %21 = end %20, %3
      %22 = sink %21 {name = "k", schedule = "", far_constants = false})"},
  {"if: not ended by exactly one ENDIF",
   R"(%20 = sink %18 {name = "k", schedule = "", far_constants = false})"},
  {"if: not ended by exactly one ENDIF",
   R"(%20 = endif %18
      %21 = endif %18, %20
      %22 = sink %21 {name = "k", schedule = "", far_constants = false})"},
  {"param: another node of this op has the same place",
   R"(%20 = param %19 {slot = 0, access = readwrite, alias = 0} : f32
      %21 = index %20, %1, %3 : f32
      %22 = store %21, %2 {combine = false, op = add}
      %23 = tuple %8, %22
      %24 = end %23, %3
      %25 = sink %24 {name = "k", schedule = "", far_constants = false})"},
  {"add: a source is a buffer where a value should be",
   R"(%20 = add %9, %9 : f32
      %21 = sink %20 {name = "k", schedule = "", far_constants = false})"},
};

constexpr Case beyond_program[] = {
  {"reduce: should have been lowered",
   R"(%20 = range %10 {id = 2, kind = loop} : i32
      %21 = cast %20 : f32
      %22 = reduce %21, %20 {op = add, axes = []} : f32
      %23 = sink %22 {name = "k", schedule = "", far_constants = false})"},
  {"const: the width of the dtype is still open",
   R"(%20 = cast %0 : i64
      %21 = sink %20 {name = "k", schedule = "", far_constants = false})"},
  {"const: the width of the dtype is still open",
   R"(%20 = const 1.5 : weak
      %21 = sink %20 {name = "k", schedule = "", far_constants = false})"},
};

constexpr std::string_view legal_anywhere[] = {
  R"(%20 = add %3, %0 : index
     %21 = range %20 {id = 2, kind = loop} : index
     %22 = end %8, %21)",
  R"(%20 = variable {name = "v", id = 1, lo = -128, hi = 127} : i8)",
  R"(%20 = variable {name = "v", id = 1, lo = 0, hi = 9223372036854775807} : u64)",
  R"(%20 = and %1, %1 : bool
    %21 = or %10, %10 : i32
    %22 = tuple %20, %21)",
  R"(%20 = const 1 : u64
    %21 = threefry %20, %20 : u64)",
  "%20 = bitcast %2 : i32",
  "%20 = range %12 {id = 2, kind = loop} : index",
  R"(%20 = tuple %8, %8
    %21 = end %20, %3)",
  R"(%20 = tuple %7, %3
    %21 = reduce %20, %3 {op = max, axes = []})",
  R"(%20 = remat %7 {id = 0} : f32
    %21 = remat %2 {id = 0} : f32
    %22 = add %20, %21 : f32)",
  R"(%20 = add %7, %16 : f32
    %21 = stage %20, %3, %4 {id = 0, space = shared, layout = [1, 0]} : f32)",
  R"(%20 = contiguous %14 : f32
    %21 = index %20, %1, %3 : f32)",
  R"(%20 = after %9, %8 : f32
    %21 = after %20, %8 : f32
    %22 = index %21, %1, %19 : f32)",
  "%20 = load %6, %2 : f32",
  "%20 = store %6, %2, %16, %8 {combine = true, op = max}",
  R"(%20 = call %13 {id = 0, name = "f", again = false} : f32
    %21 = tuple %20, %8
    %22 = after %9, %21 : f32)",
  R"(%20 = async_copy %6, %15
    %21 = wait %20 {at = 1})",
  "%20 = barrier %8 {scope = group}",
  "%20 = barrier %3, %8 {scope = group}",
  "%20 = endif %18, %8",
  R"(%20 = cast %3 : i32
    %21 = tuple %7, %20
    %22 = reduce %21, %3 {op = max, axes = []}
    %23 = gettuple %22 {at = 1} : i32)",
  R"(%20 = tuple %7, %3
    %21 = gettuple %20 {at = 1} : index)",
  R"(%20 = const 0 : index
    %21 = stage %7, %20, %3, %20 {id = 0, space = shared, layout = [2, 0, 1]} : f32
    %22 = index %21, %1, %20, %3, %20 : f32)",
  R"(%20 = tuple %9, %5
    %21 = gettuple %20 {at = 1} : f32
    %22 = index %21, %1, %3 : f32)",
  R"(%20 = custom {code = "f"}
    %21 = gettuple %20 {at = 0} : f32
    %22 = index %21, %1, %3, %3 : f32)",
  R"(%20 = cast %0 : i32
    %21 = contiguous %20 : i32)",
  "%20 = bind %12, %19 : index",
  R"(%20 = stack %3, %4 : indexx2
    %21 = index %9, %1, %20 : f32x2
    %22 = load %21 : f32x2
    %23 = const 16 : index
    %24 = splat %23 : indexx2
    %25 = cmplt %20, %24 : boolx2
    %26 = index %9, %25, %20 : f32x2
    %27 = store %26, %22 {combine = false, op = add})",
  R"(%20 = splat %2 : f32x8
    %21 = lane %20 {at = 7} : f32)",
  R"(%20 = custom {code = "zero"} : fragment<a>
    %21 = mma %20, %20, %20 {name = "m16n8k16"} : fragment<a>)",
};

constexpr std::string_view legal_tensor_graphs[] = {
  R"(%20 = index %9, %1, %19 : f32
    %21 = load %20 : f32
    %22 = index %5, %1, %19 : f32
    %23 = store %22, %21 {combine = true, op = add}
    %24 = after %5, %23 : f32)",
};

constexpr std::string_view legal_kernels[] = {
  R"(%20 = end %8, %3
    %21 = sink %20 {name = "k", schedule = "", far_constants = false})",
  // In the loops that fill it, the element that is stored; and one that does not change with them.
  R"(%20 = buffer %0 {id = 1, space = scratch, align = 0, swizzle = 0, device = ""} : f32
     %21 = index %20, %1, %3 : f32
     %22 = store %21, %2 {combine = false, op = add}
     %23 = end %22, %3
     %24 = after %20, %23 : f32
     %25 = range %0 {id = 2, kind = loop} : index
     %26 = index %24, %1, %25 : f32
     %27 = load %26 : f32
     %28 = index %24, %1, %19 : f32
     %29 = load %28 : f32
     %30 = add %27, %29 : f32
     %31 = store %26, %30 {combine = false, op = add}
     %32 = end %31, %25
     %33 = after %20, %32 : f32
     %34 = index %33, %1, %19 : f32
     %35 = load %34 : f32
     %36 = index %5, %1, %19 : f32
     %37 = store %36, %35 {combine = false, op = add}
     %38 = sink %37 {name = "k", schedule = "", far_constants = false})",
};

// clang-format on

TEST(Spec, Values) { expect_illegal(illegal_values, Level::Any); }
TEST(Spec, Loops) { expect_illegal(illegal_loops, Level::Any); }
TEST(Spec, Memory) { expect_illegal(illegal_memory, Level::Any); }
TEST(Spec, Graphs) { expect_illegal(illegal_graphs, Level::Any); }
TEST(Spec, TensorLevel) { expect_illegal(beyond_tensor, Level::Tensor); }
TEST(Spec, KernelLevel) { expect_illegal(beyond_kernel, Level::Kernel); }
TEST(Spec, ProgramLevel) { expect_illegal(beyond_program, Level::Program); }

TEST(Spec, LegalGraphs) {
  expect_legal(legal_anywhere, Level::Any);
  expect_legal(legal_tensor_graphs, Level::Tensor);
  expect_legal(legal_kernels, Level::Kernel);
}

// What neither the text form nor make() lets through, as a pass with a bug would make it.
class SpecOfBrokenNodes : public testing::Test {
 protected:
  std::string violations_of(const NodeFields& fields) {
    return violations(UOp(arena_.intern(fields)), Level::Any);
  }

  Arena arena_;
  InternerScope scope_{arena_};
  UOp f_ = const_float(1.5, dtypes::f32), i_ = const_int(3, dtypes::i32);
};

TEST_F(SpecOfBrokenNodes, DTypes) {
  const Node* mixed[] = {f_.node(), i_.node()};
  EXPECT_EQ(violations_of({Op::Add, dtypes::f32, mixed}), "%2 add: dtypes f32 and i32 differ");
  const Node* same[] = {f_.node(), f_.node()};
  EXPECT_EQ(violations_of({Op::Add, dtypes::f64, same}),
            "%1 add: the dtype is f64, but f32 follows from the sources");
  EXPECT_EQ(violations_of({Op::CmpLt, dtypes::bool_.vec(4), same}),
            "%1 cmplt: the dtype is boolx4, but bool follows from the sources");
  EXPECT_EQ(violations_of({Op::FloorDiv, dtypes::f32, same}),
            "%1 floordiv: not for f32, only for integers");
  const Node* counters[] = {i_.node(), i_.node()};
  EXPECT_TRUE(violations_of({Op::Threefry, dtypes::i32, counters})
                  .starts_with("%1 threefry: not for i32, only for u64"));
  const Node* choice[] = {i_.node(), f_.node(), f_.node()};
  EXPECT_EQ(violations_of({Op::Where, dtypes::f32, choice}),
            "%2 where: the condition is i32, not bool");
  const Node* vectors[] = {make_const(arena_, dtypes::f32.vec(4), 0)};
  EXPECT_EQ(violations_of({Op::Stack, dtypes::f32, vectors}),
            "%1 stack: f32x4 is not the dtype of a lane");
}

TEST_F(SpecOfBrokenNodes, Constants) {
  struct {
    DType dtype;
    Bits good, bad;
  } const cases[] = {
      {dtypes::bool_, 1, 2},
      {dtypes::i8, ~Bits{127}, 0x80},  // sign-extended
      {dtypes::u8, 0x80, ~Bits{127}},
      {dtypes::i32, ~Bits{0}, 0xffffffff},
      {dtypes::u32.vec(4), 0xffffffff, ~Bits{0}},
      {dtypes::f16, 0xffff, 0x10000},
      {dtypes::f8e4m3, 0xff, 0x100},
      {dtypes::f32.vec(2), 0xffffffff, ~Bits{0}},
  };
  const auto violations_of_const = [this](DType dtype, Bits bits) {
    const ConstArg arg{bits};
    return violations_of({Op::Const, dtype, {}, &arg});
  };
  const std::string finding = "%0 const: the bits are not a value of the dtype";
  for (const auto& c : cases) {
    EXPECT_EQ(violations_of_const(c.dtype, c.good), "");
    EXPECT_EQ(violations_of_const(c.dtype, c.bad), finding);
  }
  for (const DType dtype : {dtypes::i64, dtypes::u64, dtypes::index, dtypes::f64, dtypes::weak})
    EXPECT_EQ(violations_of_const(dtype, ~Bits{0}), "");
  for (const DType dtype : {dtypes::void_, DType::fragment("a")})
    EXPECT_EQ(violations_of_const(dtype, 0), finding);
}

UOp param(int slot, Access access, const std::vector<UOp>& dims) {
  return make(Op::Param, dims, dtypes::f32, ParamArg{slot, access, 0});
}
UOp place(const UOp& buffer, const UOp& valid, std::vector<UOp> indices) {
  indices.insert(indices.begin(), {buffer, valid});
  return make(Op::Index, indices);
}
UOp load(const UOp& place) { return make(Op::Load, {place}); }
UOp store(const UOp& place, const UOp& value) {
  return make(Op::Store, {place, value}, dtypes::void_, StoreArg{});
}
UOp reduce(Op op, const std::vector<UOp>& src) {
  return make(Op::Reduce, src, dtypes::void_, ReduceArg{op, {}});
}
UOp kernel(const std::vector<UOp>& effects) {
  return make(Op::Sink, effects, dtypes::void_, KernelArg{Symbol("k")});
}

// out[o, y, x] = sum over i, ky, kx of in[i, y + ky - 1, x + kx - 1] * w[o, i, ky, kx]
UOp convolution() {
  std::vector<UOp> r;
  for (std::int64_t size : {32, 14, 14, 16, 3, 3}) r.push_back(range(size, r.size()));
  const UOp y = r[1] + r[4] - 1, x = r[2] + r[5] - 1;
  const UOp valid = (y >= 0) & (y < 14) & (x >= 0) & (x < 14);
  const auto size = [](std::int64_t value) { return const_int(value); };
  const UOp out = param(0, Access::Write, {size(32), size(14), size(14)});
  const UOp in = param(1, Access::Read, {size(16), size(14), size(14)});
  const UOp weight = param(2, Access::Read, {size(32), size(16), size(3), size(3)});
  const UOp product = load(place(in, valid, {r[3], y, x})) *
                      load(place(weight, const_bool(true), {r[0], r[3], r[4], r[5]}));
  const UOp sum = reduce(Op::Add, {product, r[3], r[4], r[5]});
  const UOp put = store(place(out, const_bool(true), {r[0], r[1], r[2]}), sum);
  return kernel({make(Op::End, {put, r[0], r[1], r[2]})});
}

// Of rows of n: the largest, then the exponentials once into a buffer, their sum, the quotients.
UOp softmax() {
  const UOp n = Variable("n", 1, 4096), rows = const_int(64), always = const_bool(true);
  const UOp row = range(rows, 0);
  const UOp out = param(0, Access::Write, {rows, n}), in = param(1, Access::Read, {rows, n});
  const auto column = [&](std::uint64_t id) { return range(n, id, LoopKind::Reduce); };
  const UOp j = column(1), k = column(2), l = column(3), m = column(4);
  const UOp largest = reduce(Op::Max, {load(place(in, always, {row, j})), j});
  const UOp exponential = make(Op::Exp2, {load(place(in, always, {row, k})) - largest});
  const UOp stage =
      make(Op::Stage, {exponential, k}, dtypes::void_, StageArg{{9}, Space::Scratch, {}});
  const UOp sum = reduce(Op::Add, {load(place(stage, always, {l})), l});
  const UOp put = store(place(out, always, {row, m}), load(place(stage, always, {m})) / sum);
  return kernel({make(Op::End, {put, m, row})});
}

TEST(Spec, WholeKernels) {
  Arena arena;
  const InternerScope scope(arena);
  for (const UOp& root : {convolution(), softmax()}) {
    EXPECT_EQ(violations(root, Level::Any), "");
    EXPECT_EQ(violations(root, Level::Kernel), "");
    EXPECT_FALSE(violations(root, Level::Tensor).empty());
    EXPECT_FALSE(violations(root, Level::Program).empty());  // REDUCE, index
  }
}

TEST(Spec, KernelsHaveOneRoot) {
  const UOp a = kernel({}), b = kernel({const_bool(true)});
  const Node* roots[] = {a.node(), b.node()};
  EXPECT_EQ(violations(roots, Level::Kernel),
            "%0 sink: not the only root\n%2 sink: not the only root");
  EXPECT_EQ(violations(roots, Level::Tensor), "");
}

// A called kernel is at its own level, and its ids are its own.
TEST(Spec, CalledKernels) {
  const auto copying = [](std::int64_t size) {
    const UOp r = range(size, 0);
    const UOp out = param(0, Access::Write, {const_int(size)});
    return kernel({make(
        Op::End, {store(place(out, const_bool(true), {r}), const_float(0, dtypes::f32)), r})});
  };
  std::vector<UOp> calls;
  for (std::int64_t size : {8, 16})
    calls.push_back(make(Op::Call, {copying(size), param(0, Access::Write, {const_int(size)})},
                         dtypes::void_, CallArg{}));
  EXPECT_EQ(violations(kernel(calls), Level::Tensor), "");
  EXPECT_NE(violations(kernel(calls), Level::Kernel).find("call: belongs to the tensor graph"),
            std::string::npos);
}

std::string verify_message(const UOp& root, Level level) {
  try {
    verify(nodes_of({root}), level, "add_barriers");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Spec, VerifyShowsTheNodes) {
  Arena arena;
  const InternerScope scope(arena);
  EXPECT_EQ(verify_message(convolution(), Level::Kernel), "");
  const UOp worker =
      make(Op::Special, {range(8, 3) + 1}, dtypes::void_, SpecialArg{LoopKind::Global, 0});
  EXPECT_EQ(verify_message(worker, Level::Any),
            "internal error: after add_barriers, this is not a legal graph:\n"
            "  %4 special: the size changes with a range\n"
            "    %3 = add %1, %2 : index\n"
            "    %4 = special %3 {kind = global, axis = 0} : index");
}

TEST(Spec, VerifyShowsTheFirstFindings) {
  Arena arena;
  const InternerScope scope(arena);
  std::vector<UOp> wide;
  for (int i = 0; i < 11; ++i) wide.push_back(const_int(i));
  const std::string message = verify_message(kernel(wide), Level::Program);
  EXPECT_NE(message.find("this is not a legal program:\n  %0 const: the width"), message.npos);
  EXPECT_TRUE(message.ends_with("  %7 = const 7 : index\n  and 3 more")) << message;
}

}  // namespace
}  // namespace weft
