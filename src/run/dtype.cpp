#include <weft/weft_c.h>

namespace weft::capi {
namespace {

struct Type {
  const char* name;
  size_t bytes;
};
// clang-format off
constexpr Type types[] = {  // by their numbers
    {"unknown dtype", 0},
    {"bool", 1},
    {"i8", 1}, {"i16", 2}, {"i32", 4}, {"i64", 8},
    {"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8},
    {"f8e4m3", 1}, {"f8e5m2", 1}, {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8},
};
// clang-format on
static_assert(sizeof types / sizeof *types == WEFT_F64 + 1);

const Type& type_of(int dtype) { return types[dtype < 0 || dtype > WEFT_F64 ? 0 : dtype]; }

}  // namespace
}  // namespace weft::capi

const char* weft_dtype_name(int dtype) { return weft::capi::type_of(dtype).name; }
size_t weft_dtype_bytes(int dtype) { return weft::capi::type_of(dtype).bytes; }
