#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

#include "op.h"

namespace weft::onnx {
namespace {

struct Known {
  Type type;
  std::string_view name;
  int bits;
  DType dtype;  // void where tensors hold no such elements
};

// In the order of their numbers. A dtype that is that of two types belongs to the first.
constexpr Known types[] = {
    {Type::Undefined, "undefined", 0, dtypes::void_},
    {Type::F32, "float", 32, dtypes::f32},
    {Type::U8, "uint8", 8, dtypes::u8},
    {Type::I8, "int8", 8, dtypes::i8},
    {Type::U16, "uint16", 16, dtypes::u16},
    {Type::I16, "int16", 16, dtypes::i16},
    {Type::I32, "int32", 32, dtypes::i32},
    {Type::I64, "int64", 64, dtypes::i64},
    {Type::String, "string", 0, dtypes::void_},
    {Type::Bool, "bool", 8, dtypes::bool_},
    {Type::F16, "float16", 16, dtypes::f16},
    {Type::F64, "double", 64, dtypes::f64},
    {Type::U32, "uint32", 32, dtypes::u32},
    {Type::U64, "uint64", 64, dtypes::u64},
    {Type::C64, "complex64", 64, dtypes::void_},
    {Type::C128, "complex128", 128, dtypes::void_},
    {Type::BF16, "bfloat16", 16, dtypes::bf16},
    {Type::F8E4M3FN, "float8e4m3fn", 8, dtypes::f8e4m3},
    {Type::F8E4M3FNUZ, "float8e4m3fnuz", 8, dtypes::u8},
    {Type::F8E5M2, "float8e5m2", 8, dtypes::f8e5m2},
    {Type::F8E5M2FNUZ, "float8e5m2fnuz", 8, dtypes::u8},
    {Type::U4, "uint4", 4, dtypes::u8},
    {Type::I4, "int4", 4, dtypes::i8},
    {Type::F4E2M1, "float4e2m1", 4, dtypes::f32},
    {Type::F8E8M0, "float8e8m0", 8, dtypes::u8},
    {Type::U2, "uint2", 2, dtypes::u8},
    {Type::I2, "int2", 2, dtypes::i8},
    {Type::F6E2M3, "float6e2m3", 6, dtypes::f32},
    {Type::F6E3M2, "float6e3m2", 6, dtypes::f32},
};

const Known& known(Type type) { return types[static_cast<std::size_t>(type)]; }

}  // namespace

DType dtype_of(Type type) {
  if (known(type).dtype.is_void())
    user_error(fmt::format("onnx: no tensor has elements of type {}", known(type).name));
  return known(type).dtype;
}

Type type_of(DType dtype) {
  const auto* found = std::ranges::find(types, dtype, &Known::dtype);
  if (found == std::end(types) || dtype.is_void())
    user_error(fmt::format("onnx: there is no type for {}", dtype.str()));
  return found->type;
}

std::string_view name_of(Type type) { return known(type).name; }

int bits_of(Type type) { return known(type).bits; }

}  // namespace weft::onnx
