#include "c_helpers.h"

namespace weft {

const std::string_view c_vector_words =
    R"(// Vectors, by what gcc and clang have beyond C; elsewhere, and with -DWEFT_NO_VECTORS, lane by lane.
#if !defined(WEFT_NO_VECTORS) && (defined(__clang__) || __GNUC__ >= 9)
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wunused-function"
#define HAS_VECTORS 1
#define VECTOR(k, n, room) \
  typedef k k##x##n __attribute__((vector_size((room) * sizeof(k)))); \
  typedef k k##x##n##_there \
      __attribute__((vector_size((room) * sizeof(k)), aligned(sizeof(k)), may_alias));
#define LANE(v, i) (v)[i]
#define LIST(type, ...) (type){__VA_ARGS__}
#define EACH(type, n, whole, lane) return whole;
#else
#define HAS_VECTORS 0
#define VECTOR(k, n, room) typedef struct { k at[n]; } k##x##n;
#define LANE(v, i) (v).at[i]
#define LIST(type, ...) (type){{__VA_ARGS__}}
#define EACH(type, n, whole, lane) LANES(type, n, lane)
#endif
#if __GNUC__ >= 9
#define EACH_LANE(n) _Pragma("GCC unroll 64") for (int i = 0; i < n; i++)
#else
#define EACH_LANE(n) for (int i = 0; i < n; i++)
#endif
#define LANES(type, n, lane) \
  type to = {0}; \
  EACH_LANE(n) LANE(to, i) = lane; \
  return to;
#ifdef __has_builtin
#define HAS(builtin) (HAS_VECTORS && __has_builtin(builtin))
#else
#define HAS(builtin) 0
#endif
#if HAS(__builtin_shufflevector)
#define SHUFFLE(name, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(name, a, b, ...) name(a, b, (const i16[]){__VA_ARGS__})
#endif)";

}  // namespace weft
