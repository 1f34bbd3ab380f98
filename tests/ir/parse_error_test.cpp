// What the parser says about text that is not a graph.

#include <gtest/gtest.h>

#include <weft/dev/ir/text.h>
#include <weft/error.h>

namespace weft {
namespace {

std::string error_of(std::string_view text) {
  try {
    parse_graphs(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

struct Case {
  std::string_view text, error;
};

// The text between "graph g {\n" and "\n  return %0\n}", so that the first line is line 2.
constexpr Case lines[] = {
    // Structure of a line.
    {"%0 = frob 1 : index", "2:6: there is no op 'frob'"},
    {"%0 = ADD", "2:6: there is no op 'ADD'"},
    {"%0 =  : index", "2:7: expected a name"},
    {"%0 const 1 : index", "2:4: expected '='"},
    {"0 = const 1 : index", "2:1: expected '%'"},
    {"% = const 1 : index", "2:3: expected a number"},
    {"%1 = const 1 : index", "2:2: expected the definition of %0"},
    {"%0 = const 1 : index\n%2 = const 1 : index", "3:2: expected the definition of %1"},
    {"%0 = const 1 : index\n%0 = const 1 : index", "3:2: expected the definition of %1"},
    {"%-1 = const 1 : index", "2:2: '-1' is not an integer of the wanted size"},
    {"%4294967296 = neg", "2:2: '4294967296' is not an integer of the wanted size"},
    {"%0 = neg %0 : index", "2:11: %0 is not defined yet"},
    {"%0 = const 1 : index\n%1 = add %0, %2 : index", "3:15: %2 is not defined yet"},
    {"%0 = const 1 : index\n%1 = add %0, 0 : index", "3:14: expected '%'"},
    {"%0 = const 1 : index\n%1 = add %0 %0 : index", "3:6: add: 1 sources, but it takes 2"},

    // Constants.
    {"%0 = const : index", "2:12: expected a number"},
    {"%0 = const 1", "4:3: expected ':'"},
    {"%0 = const 1.5 : i32", "2:12: '1.5' is not a value of i32"},
    {"%0 = const 128 : i8", "2:12: '128' is not a value of i8"},
    {"%0 = const -1 : u8", "2:12: '-1' is not a value of u8"},
    {"%0 = const -1 : u64", "2:12: '-1' is not a value of u64"},
    {"%0 = const 9223372036854775808 : i64", "2:12: '9223372036854775808' is not a value of i64"},
    {"%0 = const 18446744073709551616 : u64", "2:12: '18446744073709551616' is not a value of u64"},
    {"%0 = const 2 : bool", "2:12: '2' is not a value of bool"},
    {"%0 = const true : f32", "2:12: 'true' is not a value of f32"},
    {"%0 = const 1.0.0 : f32", "2:12: '1.0.0' is not a value of f32"},
    {"%0 = const 1e999 : f64", "2:12: '1e999' is not a value of f64"},
    {"%0 = const 1 : void", "2:12: '1' is not a value of void"},
    {"%0 = const 1 : fragment<a>", "2:12: '1' is not a value of fragment<a>"},
    {"%0 = const bits(0x1ffff) : f16", "2:17: bits(0x1ffff) is not a value of f16"},
    {"%0 = const bits(0x10000000000000000) : f64",
     "2:17: bits(0x10000000000000000) is not a value of f64"},
    {"%0 = const bits(-1) : f64", "2:17: bits(-1) is not a value of f64"},
    {"%0 = const bits(0x1) : i32", "2:17: bits(0x1) is not a value of i32"},
    {"%0 = const bits() : f32", "2:17: expected a number"},
    {"%0 = const bits(0x1 : f32", "2:21: expected ')'"},

    // Dtypes.
    {"%0 = const 1 : i33", "2:16: 'i33' is not a dtype"},
    {"%0 = const 1 :", "4:3: 'return' is not a dtype"},
    {"%0 = const 1 : i32x1", "2:16: 'i32x1' is not a dtype"},
    {"%0 = const 1 : i32x4097", "2:16: 'i32x4097' is not a dtype"},
    {"%0 = const 1 : i32x99999999999", "2:16: 'i32x99999999999' is not a dtype"},
    {"%0 = const 1 : fragment<>", "2:16: 'fragment<>' is not a dtype"},
    {"%0 = const 1 : fragment<a", "2:16: 'fragment<a' is not a dtype"},
    {"%0 = const 1 : index\n%1 = neg %0 : i32", "3:15: the dtype is index, not i32"},
    {"%0 = const 1 : index\n%1 = neg %0", "3:6: the dtype is index, not void"},
    {"%0 = const 1 : index\n%1 = tuple %0 : index", "3:17: the dtype is void, not index"},
    {"%0 = const 1 : index\n%1 = const 1 : i32\n%2 = add %0, %1 : i32",
     "4:6: add: dtypes index and i32 differ"},
    {"%0 = const 1 : index\n%1 = where %0, %0, %0 : index",
     "3:6: where: the condition is index, not bool"},
    {"%0 = custom {code = \"\"} : fragment<a>\n%1 = stack %0, %0 : fragment<a>",
     "3:6: stack: fragment<a> is not the dtype of a lane"},

    // Numbers of sources.
    {"%0 = neg : index", "2:6: neg: 0 sources, but it takes 1"},
    {"%0 = const 1 : index\n%1 = where %0, %0 : index", "3:6: where: 2 sources, but it takes 3"},
    {"%0 = reduce {op = add, axes = []} : f32", "2:6: reduce: 0 sources, but it takes at least 1"},
    {"%0 = const 1 : index\n%1 = counter %0 {id = 1} : index",
     "3:6: counter: 1 sources, but it takes 0"},

    // Fields.
    {"%0 = counter : u64", "2:14: expected '{'"},
    {"%0 = counter {ids = 1} : u64", "2:15: expected 'id'"},
    {"%0 = tuple\n%1 = store %0, %0 {combine = truefalse, op = add}", "3:30: expected 'false'"},
    {"%0 = counter {name = 1} : u64", "2:15: expected 'id'"},
    {"%0 = counter {id = 1, id = 1} : u64", "2:21: expected '}'"},
    {"%0 = counter {id = -1} : u64", "2:20: '-1' is not an integer of the wanted size"},
    {"%0 = counter {id = 18446744073709551616} : u64",
     "2:20: '18446744073709551616' is not an integer of the wanted size"},
    {"%0 = param {slot = 0} : f32", "2:21: expected ','"},
    {"%0 = param {slot = 2147483648, access = read, alias = 0} : f32",
     "2:20: '2147483648' is not an integer of the wanted size"},
    {"%0 = param {slot = 0, access = peek, alias = 0} : f32",
     "2:32: 'peek' is none of read, write, readwrite, constant"},
    {"%0 = barrier {scope = wide}", "2:23: 'wide' is none of warp, group, team, device"},
    {"%0 = const 1 : index\n%1 = reduce %0 {op = plus, axes = []} : index",
     "3:22: there is no op 'plus'"},
    {"%0 = const 1 : index\n%1 = store %0, %0 {combine = yes, op = add}", "3:30: expected 'false'"},
    {"%0 = const 1 : index\n%1 = flip %0 {axes = 0} : index", "3:22: expected '['"},
    {"%0 = const 1 : index\n%1 = flip %0 {axes = [0} : index", "3:24: expected ']'"},
    {"%0 = const 1 : index\n%1 = flip %0 {axes = [9999999999999999999]} : index",
     "3:23: '9999999999999999999' is not an integer of the wanted size"},

    // Strings.
    {"%0 = sink {name = k}", "2:19: expected '\"'"},
    {"%0 = sink {name = \"k}", "2:19: the string does not end"},
    {"%0 = sink {name = \"k\\\"}", "2:19: the string does not end"},
    {"%0 = sink {name = \"\\x4\"}", "2:19: \\x wants two hexadecimal digits"},
    {"%0 = sink {name = \"\\xgg\"}", "2:19: \\x wants two hexadecimal digits"},

    // Shapes.
    {"%0 = const 4 : index\n%1 = param %0 {slot = 0, access = read, alias = 0} : f32\n"
     "%2 = flip %1 {axes = [1]} : f32",
     "4:6: flip: axis 1 is repeated or not an axis of shape (4,)"},
    {"%0 = const -4 : index\n%1 = param %0 {slot = 0, access = read, alias = 0} : f32",
     "3:6: param: the shape (-4,) has a negative size"},
};

TEST(Parse, SaysWhatIsWrongInALine) {
  for (const auto& [text, error] : lines)
    EXPECT_EQ(error_of("graph g {\n" + std::string(text) + "\n\n  return %0\n}"), error) << text;
}

TEST(Parse, SaysWhatIsWrongInAFile) {
  constexpr Case files[] = {
      {"%0 = const 1 : index", "1:1: expected 'graph'"},
      {"graph", "1:6: expected a name"},
      {"graphfoo { %0 = const 1 : index return %0 }", "1:1: expected 'graph'"},
      {"graph g { %0 = const 1 : index returned %0 }", "1:32: expected '%'"},
      {"graph g.{ %0 = const 1 : index return0 }", "1:32: expected '%'"},
      {"graph \"g { return }", "1:7: the string does not end"},
      {"graph g h {", "1:9: expected '{'"},
      {"graph {}", "1:7: expected a name"},
      {"graph g", "1:8: expected '{'"},
      {"graph g {", "1:10: expected '%'"},
      {"graph g {}", "1:10: expected '%'"},
      {"graph g {\n  %0 = const 1 : index\n}", "3:1: expected '%'"},
      {"graph g { return }", "1:18: expected '%'"},
      {"graph g { return %0 }", "1:19: %0 is not defined yet"},
      {"graph g { %0 = const 1 : index return %0, }", "1:43: expected '%'"},
      {"graph g { %0 = const 1 : index return %0", "1:41: expected '}'"},
      {"graph g { %0 = const 1 : index return %0 %0 }", "1:42: expected '}'"},
      {"graph g { %0 = const 1 : index return %0 } extra", "1:44: expected 'graph'"},
      {"graph g { %0 = const 1 : index return %0 }\n// done\ngraph h { return %0 }",
       "3:19: %0 is not defined yet"},
      {"graph g {\n// %0 = const 1 : index", "2:24: expected '%'"},
      {std::string_view("graph g {\0}", 11), "1:10: expected '%'"},
  };
  for (const auto& [text, error] : files) EXPECT_EQ(error_of(text), error) << text;
}

TEST(Parse, LeavesNothingBehindAfterAnError) {
  const std::size_t before = shared_graph().size();
  error_of(
      "graph g { %0 = const 4711 : index %1 = range %0 {id = 3, kind = loop} : index %2 = oops");
  EXPECT_EQ(shared_graph().size(), before);
}

TEST(ParseNode, WantsOneGraphWithOneRoot) {
  const std::string_view one = "graph g { %0 = const 1 : index return %0 }";
  const std::string two = std::string(one) + std::string(one);
  EXPECT_TRUE(parse_node(one).is(const_int(1)));
  for (std::string_view text : {std::string_view(), std::string_view(two),
                                std::string_view("graph g { %0 = const 1 : index return %0, %0 }")})
    EXPECT_THROW(parse_node(text), Error) << text;
}

}  // namespace
}  // namespace weft
