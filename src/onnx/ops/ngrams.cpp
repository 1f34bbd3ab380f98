// TfIdfVectorizer: how often each of a pool of n-grams occurs in rows of words.
#include <map>

#include <fmt/format.h>

#include "tables.h"

namespace weft::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t most_columns = std::int64_t{1} << 31;

// Words as numbers, those of the input in a row each: of strings, how many different ones of the pool came before,
// and -1 for what it has not.
struct Words {
  Tensor rows;
  Ints pool;
};

Words words_of(const Call& call) {
  Words words;
  if (call.value(0).is_text()) {
    std::map<std::string, std::int64_t> numbers;
    for (const std::string& word : call.attr<std::vector<std::string>>("pool_strings"))
      words.pool.push_back(
          numbers.try_emplace(word, static_cast<std::int64_t>(numbers.size())).first->second);
    Ints found;
    const Text& text = call.text(0);
    for (const std::string& word : text.values) {
      const auto number = numbers.find(word);
      found.push_back(number == numbers.end() ? -1 : number->second);
    }
    words.rows = Tensor(found, call.options(dtypes::i64)).reshape(text.shape);
  } else {
    words.pool = call.attr<Ints>("pool_int64s");
    words.rows = call.tensor(0).cast(dtypes::i64);
  }
  if (words.rows.ndim() > 2) call.refuse("its input has one axis or two");
  if (words.rows.ndim() < 2) words.rows = words.rows.reshape({1, -1});
  return words;
}

// (rows, grams): how often each of the grams (grams, size) occurs, its words so far from each other.
Tensor occurrences(const Tensor& rows, const Tensor& grams, std::int64_t step) {
  const std::int64_t size = grams.size(1), starts = rows.size(1) - (size - 1) * step;
  Tensor all;
  for (std::int64_t i = 0; i < size; ++i) {
    const Tensor here = rows.narrow(1, i * step, starts).unsqueeze(-1) == grams.select(1, i);
    all = i == 0 ? here : all & here;
  }
  return all.sum(1, false, dtypes::f32);
}

Tensor weighted(const Call& call, const Tensor& counts) {
  const std::string mode = call.attr<std::string>("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    call.refuse("mode is TF, IDF or TFIDF, not " + mode);
  const Tensor present = mode == "IDF" ? (counts > 0).cast(dtypes::f32) : counts;
  if (mode == "TF" || !call.has("weights")) return present;
  const Tensor weights(call.attr<std::vector<double>>("weights"), call.options(dtypes::f32));
  if (weights.size(0) != counts.size(1))
    call.refuse(
        fmt::format("there are {} weights for {} columns", weights.size(0), counts.size(1)));
  return present * weights;
}

struct Section {
  std::int64_t begin, end;  // of the pool
};

Section section_of(const Call& call, const Ints& begins, std::size_t which, std::int64_t pool) {
  const Section section{begins[which], which + 1 < begins.size() ? begins[which + 1] : pool};
  if (section.begin < 0 || section.end < section.begin || section.end > pool)
    call.refuse("ngram_counts do not rise within the pool");
  return section;
}

Tensor tf_idf(const Call& call) {
  const auto [rows, pool] = words_of(call);
  const Ints begins = call.attr<Ints>("ngram_counts"), columns = call.attr<Ints>("ngram_indexes");
  const std::int64_t least = call.attr<std::int64_t>("min_gram_length"),
                     most = call.attr<std::int64_t>("max_gram_length"),
                     skips = call.attr<std::int64_t>("max_skip_count");
  std::int64_t width = 0, gram = 0;
  for (const std::int64_t column : columns) {
    if (column < 0 || column >= most_columns)
      call.refuse(fmt::format("an n-gram has the index {}", column));
    width = std::max(width, column + 1);
  }
  Tensor counts = Tensor::zeros({rows.size(0), width}, call.options(dtypes::f32));
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const auto size = static_cast<std::int64_t>(i) + 1;
    const Section section = section_of(call, begins, i, static_cast<std::int64_t>(pool.size()));
    const std::int64_t grams = (section.end - section.begin) / size;
    if (gram + grams > static_cast<std::int64_t>(columns.size()))
      call.refuse("ngram_indexes has fewer numbers than there are n-grams");
    const Tensor where(Ints(columns.begin() + gram, columns.begin() + gram + grams),
                       call.options(dtypes::i64));
    gram += grams;
    if (size < least || size > most || grams == 0) continue;
    const Tensor words =
        Tensor(Ints(pool.begin() + section.begin, pool.begin() + section.begin + grams * size),
               call.options(dtypes::i64))
            .reshape({grams, size});
    // Single words are as near to themselves whatever is skipped.
    for (std::int64_t step = 1; step - 1 <= (size == 1 ? 0 : skips); ++step) {
      if ((size - 1) * step >= rows.size(1)) break;
      counts = counts.index_add(1, where, occurrences(rows, words, step));
    }
  }
  const Tensor result = weighted(call, counts);
  const bool is_one =
      call.value(0).is_text() ? call.text(0).shape.size() < 2 : call.tensor(0).ndim() < 2;
  return is_one ? result.squeeze(0) : result;
}

}  // namespace

OpTable ngrams_ops() {
  static const Op ops[] = {{"TfIdfVectorizer", 9, tf_idf}};
  return {"", ops};
}

}  // namespace weft::onnx
