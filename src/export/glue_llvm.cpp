// What calls the kernels, in LLVM IR: the same as in C.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/device/mma.h>

#include "text.h"
#include "weights.h"

namespace weft::exported {
namespace {

class LlvmGlue {
 public:
  explicit LlvmGlue(const Library& library) : library_(library), name_(library.name) {}

  std::string text() {
    std::string text = parts() + check() + verify();
    if (std::ranges::any_of(library_.functions, &Function::has_tiles)) text += ask_for_tiles();
    if (library_.state.bytes > 0) text += start();
    for (const Entry& entry : library_.entries) {
      if (!entry.sizes.empty()) text += check_sizes(entry) + shapes(entry);
      text += run(entry);
    }
    return globals_ + text;
  }

 private:
  // A call is a block of pointers: to its values, then to its memory.
  std::string parts() const {
    std::string text;
    bool any = false;
    for (const Function& function : library_.functions) {
      text += fmt::format("declare void @{}(ptr, ptr{})\n", function.name,
                          function.takes_thread ? ", i64" : "");
      if (!function.takes_thread) continue;
      any = true;
      text += fmt::format(
          "define internal void @{0}_part(ptr %call, i64 %i) {{\n"
          "  %values = load ptr, ptr %call\n"
          "  %memory = getelementptr ptr, ptr %call, i64 1\n"
          "  call void @{0}(ptr %memory, ptr %values, i64 %i)\n  ret void\n}}\n",
          function.name);
    }
    return any ? text + each() : text;
  }

  std::string each() const {
    return fmt::format(
        R"(define internal void @{}_each(ptr %threads, i64 %n, ptr %body, ptr %arg) {{
entry:
  %none = icmp eq ptr %threads, null
  br i1 %none, label %alone, label %shared
shared:
  %parallel_for = load ptr, ptr %threads
  %second = getelementptr ptr, ptr %threads, i64 1
  %context = load ptr, ptr %second
  call void %parallel_for(ptr %context, i64 %n, ptr %body, ptr %arg)
  ret void
alone:
  %i = phi i64 [ 0, %entry ], [ %next, %alone ]
  call void %body(ptr %arg, i64 %i)
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %alone, label %done
done:
  ret void
}}
)",
        name_);
  }

  // When the library is loaded, by the instruction itself: a library needs no other. What it gives is not looked at, as
  // such a library runs where it was made.
  std::string ask_for_tiles() const {
    return fmt::format(
        R"(@llvm.global_ctors = appending global [1 x {{ i32, ptr, ptr }}] [{{ i32, ptr, ptr }} {{ i32 65535, ptr @{0}_tiles, ptr null }}]
define internal void @{0}_tiles() {{
  %result = call i64 asm sideeffect "syscall", "={{rax}},{{rax}},{{rdi}},{{rsi}},~{{rcx}},~{{r11}},~{{memory}}"(i64 {1}, i64 {2}, i64 {3})
  ret void
}}
)",
        name_, AskForTiles::call, AskForTiles::request, AskForTiles::tiles);
  }

  // Instructions that leave the function with that code where the condition holds, and go on in block `next`.
  static std::string return_if(std::string_view condition, StatusCode code, std::string_view next) {
    return fmt::format("  br i1 {0}, label %not.{1}, label %{1}\nnot.{1}:\n  ret i32 {2}\n{1}:\n",
                       condition, next, static_cast<int>(code));
  }
  static std::string return_if_missing(std::string_view pointer) {
    return fmt::format("  %{0}.is_missing = icmp eq ptr %{0}, null\n", pointer) +
           return_if(fmt::format("%{}.is_missing", pointer), Missing,
                     fmt::format("{}.there", pointer));
  }
  static std::string return_if_missing_or_misaligned(std::string_view pointer) {
    return return_if_missing(pointer) +
           fmt::format(
               "  %{0}.address = ptrtoint ptr %{0} to i64\n"
               "  %{0}.odd = and i64 %{0}.address, {1}\n"
               "  %{0}.is_odd = icmp ne i64 %{0}.odd, 0\n",
               pointer, alignment - 1) +
           return_if(fmt::format("%{}.is_odd", pointer), Misaligned,
                     fmt::format("{}.aligned", pointer));
  }

  std::string check() const {
    std::string text = fmt::format("define internal i32 @{}_check(ptr %weights) {{\n", name_) +
                       return_if_missing_or_misaligned("weights");
    int number = 0;
    for (const HeaderField& field : header_fields(library_)) {
      text += fmt::format(
          "  %at{0} = getelementptr i8, ptr %weights, i64 {1}\n  %word{0} = load i64, ptr %at{0}\n"
          "  %other{0} = icmp ne i64 %word{0}, {2}\n",
          number, field.offset, static_cast<std::int64_t>(field.value));
      text += return_if(fmt::format("%other{}", number), field.otherwise,
                        fmt::format("field{}", number));
      ++number;
    }
    return text + "  ret i32 0\n}\n";
  }

  std::string verify() const {
    const std::size_t bytes = header_bytes + library_.weights.size();
    std::string text = fmt::format("define i32 @{}_verify(ptr %weights, i64 %size) {{\n", name_);
    text += fmt::format("  %is_short = icmp ult i64 %size, {}\n", header_bytes);
    text += return_if("%is_short", WrongSize, "long");
    text += checked();
    text += fmt::format("  %is_other = icmp ne i64 %size, {}\n", bytes);
    text += return_if("%is_other", WrongSize, "sized");
    return text + fmt::format(R"(  br label %test
test:
  %at = phi i64 [ {0}, %sized ], [ %next, %word ]
  %sum = phi i64 [ 0, %sized ], [ %mixed, %word ]
  %more = icmp ult i64 %at, {1}
  br i1 %more, label %word, label %end
word:
  %place = getelementptr i8, ptr %weights, i64 %at
  %bits = load i64, ptr %place
  %both = xor i64 %sum, %bits
  %product = mul i64 %both, {2}
  %high = lshr i64 %product, 29
  %mixed = xor i64 %product, %high
  %next = add nuw i64 %at, 8
  br label %test
end:
  %kept_at = getelementptr i8, ptr %weights, i64 {3}
  %kept = load i64, ptr %kept_at
  %same = icmp eq i64 %sum, %kept
  %status = select i1 %same, i32 {4}, i32 {5}
  ret i32 %status
}}
)",
                              header_bytes, bytes, static_cast<std::int64_t>(0x9e3779b97f4a7c15u),
                              checksum_offset, static_cast<int>(Ok), static_cast<int>(Damaged));
  }

  // Leaves with what that call returns, unless it is 0.
  static std::string return_unless_ok(std::string_view what, const std::string& call) {
    return fmt::format(
        "  %{0}.status = call i32 {1}\n  %{0}.is_refused = icmp ne i32 %{0}.status, 0\n"
        "  br i1 %{0}.is_refused, label %{0}.refused, label %{0}.taken\n"
        "{0}.refused:\n  ret i32 %{0}.status\n{0}.taken:\n",
        what, call);
  }
  std::string checked() const {
    return return_unless_ok("weights", fmt::format("@{}_check(ptr %weights)", name_));
  }

  std::string start() const {
    const State& state = library_.state;
    return fmt::format("define i32 @{}_start(ptr %weights, ptr %state) {{\n", name_) + checked() +
           return_if_missing_or_misaligned("state") +
           fmt::format(
               "  %from = getelementptr i8, ptr %weights, i64 {0}\n"
               "  %zeros = getelementptr i8, ptr %state, i64 {1}\n"
               "  call void @llvm.memcpy.p0.p0.i64(ptr %state, ptr %from, i64 {1}, i1 0)\n"
               "  call void @llvm.memset.p0.i64(ptr %zeros, i8 0, i64 {2}, i1 0)\n"
               "  ret i32 0\n}}\n",
               header_bytes + state.kept_at, state.kept_bytes, state.bytes - state.kept_bytes);
  }

  static std::string check_sizes(const Entry& entry) {
    std::string text =
        fmt::format("define internal i32 @{}_in_range(ptr %sizes) {{\n", entry.prefix) +
        return_if_missing("sizes");
    for (std::size_t i = 0; i < entry.sizes.size(); ++i) {
      text += fmt::format(
          "  %at{0} = getelementptr i64, ptr %sizes, i64 {0}\n  %size{0} = load i64, ptr %at{0}\n"
          "  %less{0} = icmp slt i64 %size{0}, {1}\n  %more{0} = icmp sgt i64 %size{0}, {2}\n"
          "  %out{0} = or i1 %less{0}, %more{0}\n",
          i, entry.sizes[i].least, entry.sizes[i].most);
      text += return_if(fmt::format("%out{}", i), OutOfRange, fmt::format("in{}", i));
    }
    return text + "  ret i32 0\n}\n";
  }

  std::string shapes(const Entry& entry) {
    std::string text =
        fmt::format("define i32 @{}_shapes(ptr %sizes, ptr %port0) {{\n", entry.prefix) +
        memory_of_calls(entry.shapes) +
        return_unless_ok("sizes", fmt::format("@{}_in_range(ptr %sizes)", entry.prefix)) +
        return_if_missing("port0");
    for (const Call& call : entry.shapes.calls) text += call_text(entry, call, "null");
    return text + "  ret i32 0\n}\n";
  }

  // A value, before which stands what makes it.
  std::string address(const Place& place, std::string& text) {
    const auto part = [&](const std::string& base) {
      if (place.offset == 0) return base;
      const std::string value = fmt::format("%m{}", values_++);
      text += fmt::format("  {} = getelementptr i8, ptr {}, i64 {}\n", value, base, place.offset);
      return value;
    };
    switch (place.in) {
      case Place::In::Nothing: return "null";
      case Place::In::Port: return part(fmt::format("%port{}", place.port));
      case Place::In::Weights: return part("%constants");
      case Place::In::Workspace: return part("%workspace");
      case Place::In::State: return part("%state");
    }
    return {};
  }

  // Of what has open sizes as many as this call has.
  std::string bytes_of(const Entry& entry, const Call& call, std::string& text) {
    const Place* open = entry.open_port(call);
    if (open == nullptr) return fmt::to_string(call.bytes);
    const Port& port = entry.ports[open->port];
    std::string bytes = fmt::to_string(port.dtype.bytes());
    const std::size_t first = entry.ranks_before(open->port);
    for (std::size_t i = first; i < first + port.shape.size(); ++i) {
      const int number = values_++;
      text += fmt::format(
          "  %a{0} = getelementptr i64, ptr %shapes, i64 {1}\n  %l{0} = load i64, ptr %a{0}\n"
          "  %b{0} = mul i64 %l{0}, {2}\n",
          number, i, bytes);
      bytes = fmt::format("%b{}", number);
    }
    return bytes;
  }

  std::string call_text(const Entry& entry, const Call& call, const char* threads) {
    std::string text;
    if (call.is_copy()) {
      const std::string to = address(call.places[0], text), from = address(call.places[1], text);
      const std::string bytes = bytes_of(entry, call, text);
      return text +
             fmt::format("  call void @llvm.memcpy.p0.p0.i64(ptr {}, ptr {}, i64 {}, i1 0)\n", to,
                         from, bytes);
    }
    std::vector<std::string> words{values_of(call, text)};
    for (const Place& place : call.places) words.push_back(address(place, text));
    for (std::size_t i = 0; i < words.size(); ++i)
      text += fmt::format("  store ptr {}, ptr %word{}\n", words[i], i);
    const Function& function = library_.functions[call.function];
    if (!function.takes_thread)
      return text + fmt::format("  call void @{}(ptr %word1, ptr {})\n", function.name, words[0]);
    return text + fmt::format("  call void @{}_each(ptr {}, i64 {}, ptr @{}_part, ptr %word0)\n",
                              name_, threads, function.threads, function.name);
  }

  // Numbers that are always the same are constants of the library.
  std::string values_of(const Call& call, std::string& text) {
    if (call.values.empty()) return "null";
    if (!call.has_sizes()) {
      const std::string name = fmt::format("@values{}", values_++);
      std::vector<std::int64_t> numbers;
      for (const Number& value : call.values) numbers.push_back(value.value);
      globals_ += fmt::format("{} = internal constant [{} x i64] [i64 {}]\n", name, numbers.size(),
                              fmt::join(numbers, ", i64 "));
      return name;
    }
    for (std::size_t i = 0; i < call.values.size(); ++i) {
      const int number = values_++;
      text += fmt::format("  %v{} = getelementptr i64, ptr %values, i64 {}\n", number, i);
      std::string value = fmt::to_string(call.values[i].value);
      if (const auto size = call.values[i].size) {
        text += fmt::format(
            "  %s{0} = getelementptr i64, ptr %sizes, i64 {1}\n  %n{0} = load i64, ptr %s{0}\n",
            number, *size);
        value = fmt::format("%n{}", number);
      }
      text += fmt::format("  store i64 {}, ptr %v{}\n", value, number);
    }
    return "%values";
  }

  // A call's block of pointers, and its values.
  static std::string memory_of_calls(const Routine& routine) {
    const std::size_t words = std::max<std::size_t>(1 + routine.most_places(), 2);
    std::string text = fmt::format("  %block = alloca [{} x ptr]\n  %values = alloca [{} x i64]\n",
                                   words, std::max<std::size_t>(routine.most_values(), 1));
    for (std::size_t i = 0; i < words; ++i)
      text += fmt::format("  %word{0} = getelementptr ptr, ptr %block, i64 {0}\n", i);
    return text;
  }

  // What `io` has: ports, then sizes where there are some, then state.
  std::string io(const Entry& entry) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < entry.ports.size(); ++i) names.push_back(fmt::format("port{}", i));
    if (!entry.sizes.empty()) names.emplace_back("sizes");
    if (library_.state.bytes > 0) names.emplace_back("state");
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
      text += fmt::format(
          "  %io{0} = getelementptr ptr, ptr %io, i64 {0}\n  %{1} = load ptr, ptr %io{0}\n", i,
          names[i]);
    return text;
  }

  std::string run(const Entry& entry) {
    std::string text =
        fmt::format("define i32 @{}_run(ptr %io, ptr %weights, ptr %workspace, ptr %threads) {{\n",
                    entry.prefix) +
        memory_of_calls(entry.run) +
        fmt::format("  %shapes = alloca [{} x i64]\n", std::max<std::size_t>(entry.ranks(), 1)) +
        checked();
    if (library_.workspace_bytes() > 0) text += return_if_missing_or_misaligned("workspace");
    text += return_if_missing("io");
    text += fmt::format("  %constants = getelementptr i8, ptr %weights, i64 {}\n", header_bytes) +
            io(entry);
    for (std::size_t i = 0; i < entry.ports.size(); ++i)
      if (!entry.ports[i].may_be_empty) text += return_if_missing(fmt::format("port{}", i));
    if (library_.state.bytes > 0) text += return_if_missing_or_misaligned("state");
    if (!entry.sizes.empty())
      text += return_unless_ok("sizes", fmt::format("@{}_in_range(ptr %sizes)", entry.prefix));
    if (entry.copies_open())
      text +=
          fmt::format("  %shaped = call i32 @{}_shapes(ptr %sizes, ptr %shapes)\n", entry.prefix);
    for (const Call& call : entry.run.calls) text += call_text(entry, call, "%threads");
    return text + "  ret i32 0\n}\n";
  }

  const Library& library_;
  const std::string name_;
  std::string globals_;
  int values_ = 0;
};

}  // namespace

std::string llvm_glue(const Library& library) { return LlvmGlue(library).text(); }

}  // namespace weft::exported
