#include "errors.h"

#include <fmt/format.h>
#include <weft/dev/base/internal.h>

namespace weft::onnx {
namespace {

std::string text_of(const InFile& in) { return fmt::format("'{}'", in.path); }

std::string_view without(std::string_view start, std::string_view message) {
  return message.starts_with(start) ? message.substr(start.size()) : message;
}

[[noreturn]] void fail(const std::string& where, const Error& error, const InFile& in) {
  const std::string_view whole = error.what();
  const std::string_view why =
      without(text_of(in) + ": ", without("onnx: ", without("internal error: ", whole)));
  const std::string message = fmt::format("{}: {}", where, why);
  if (is_internal(whole)) internal_error(message);
  throw Error(message);
}

}  // namespace

void fail_in(const NodeProto& node, const Error& error, const InFile& in) {
  fail(text_of(node), error, in);
}

void fail_in(const InFile& in, const Error& error) { fail(text_of(in), error, in); }

std::string text_of(const NodeProto& node) {
  const std::string domain = node.domain.empty() ? "" : fmt::format("{}.", node.domain);
  return fmt::format("node '{}' ({}{})", node.label(), domain, node.op);
}

}  // namespace weft::onnx
