#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "native_vector.h"
#include "roof.h"

namespace weft::bench {
namespace {

Vector load(const float* from) { return *reinterpret_cast<const Vector*>(from); }

template <Store store>
void put(float* to, Vector value) {
#if defined(__AVX512F__)
  if constexpr (store == Store::NonTemporal)
    return _mm512_stream_ps(to, reinterpret_cast<__m512>(value));
#elif defined(__AVX__)
  if constexpr (store == Store::NonTemporal)
    return _mm256_stream_ps(to, reinterpret_cast<__m256>(value));
#elif defined(__x86_64__)
  if constexpr (store == Store::NonTemporal)
    return _mm_stream_ps(to, reinterpret_cast<__m128>(value));
#endif
  *reinterpret_cast<Vector*>(to) = value;
}

// By eight registers, so that additions of a sum do not wait for each other.
constexpr std::size_t step = 8;

float read(const float* a, std::size_t count) {
  Vector sums[step]{};
  for (std::size_t i = 0; i < count; i += step * lanes)
#pragma GCC unroll 8
    for (std::size_t j = 0; j < step; ++j) sums[j] += load(a + i + j * lanes);
  for (std::size_t j = 1; j < step; ++j) sums[0] += sums[j];
  return sums[0][0];
}

template <Store store, class Value>
float write(float* out, std::size_t count, Value value) {
  for (std::size_t i = 0; i < count; i += step * lanes)
#pragma GCC unroll 8
    for (std::size_t j = 0; j < step; ++j) put<store>(out + i + j * lanes, value(i + j * lanes));
#if defined(__x86_64__)
  if constexpr (store == Store::NonTemporal) _mm_sfence();
#endif
  return out[0];
}

template <Store store>
float pass_over(Pass pass, float* out, const float* a, const float* b, const float* c,
                std::size_t count) {
  const auto value = [&](auto of) { return write<store>(out, count, of); };
  switch (pass) {
    case Pass::Read: return read(a, count);
    case Pass::Scale: return value([&](std::size_t i) { return load(a + i) * 3.0F; });
    case Pass::Add: return value([&](std::size_t i) { return load(a + i) + load(b + i); });
    case Pass::Fma:
      return value([&](std::size_t i) { return load(a + i) * load(b + i) + load(c + i); });
  }
  return 0;
}

}  // namespace

float stream_loop(Pass pass, Store store, float* out, const float* a, const float* b,
                  const float* c, std::size_t count) {
  return store == Store::Normal ? pass_over<Store::Normal>(pass, out, a, b, c, count)
                                : pass_over<Store::NonTemporal>(pass, out, a, b, c, count);
}

}  // namespace weft::bench
