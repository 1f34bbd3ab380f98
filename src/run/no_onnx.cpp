// The library that has no compiler.

#include <weft/dev/run/model.h>

namespace weft::capi {

int open_onnx(const char* path, const OpenOptions&, Model&) {
  return fail(WEFT_UNSUPPORTED,
              "%.400s: libweft-run opens what weft compile --kind shared wrote; ONNX files are for "
              "libweft",
              path);
}

int open_onnx_bytes(const void*, size_t, const OpenOptions&, Model&) {
  return fail(WEFT_UNSUPPORTED, "ONNX files are for libweft; this is libweft-run");
}

}  // namespace weft::capi
