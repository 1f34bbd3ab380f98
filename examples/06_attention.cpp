// What sequence models are made of, from tensor ops: attention with a causal mask, rotary positions, heads that
// share keys, attention in blocks that never has all scores, and a selective scan.
#include <cmath>
#include <limits>

#include "lesson.h"

using namespace weft;

using Tensors = std::vector<Tensor>;

constexpr double nothing = -std::numeric_limits<double>::infinity();  // a score that gets no share

// --- 1. Attention ---------------------------------------------------------------------------------------

// Each query takes a share of every value, by how well the query and the key of that value match. q, k and v are
// (..., time, width).
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool is_causal) {
  Tensor scores = q.matmul(k.mT()) / std::sqrt(static_cast<double>(q.size(-1)));
  if (is_causal) {  // nobody looks ahead
    const Tensor seen = Tensor::ones({q.size(-2), k.size(-2)}, {.dtype = dtypes::bool_}).tril();
    scores = seen.where(scores, nothing);
  }
  return scores.softmax().matmul(v);
}

// (batch, time, heads * width) to (batch, heads, time, width).
Tensor heads_of(const Tensor& x, std::int64_t heads) {
  return x.rearrange("b t (h w) -> b h t w", {{"h", heads}});
}

Tensor by_loops(const Tensor& q, const Tensor& k, const Tensor& v) {
  const std::int64_t time = q.size(-2), width = q.size(-1), rows = q.numel() / width;
  const auto a = q.to_vector<double>(), b = k.to_vector<double>(), c = v.to_vector<double>();
  std::vector<double> y(a.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t first = row / time * time;  // of this head's keys
    std::vector<double> shares;
    double sum = 0;
    for (std::int64_t key = first; key <= row; ++key) {
      double score = 0;
      for (std::int64_t i = 0; i < width; ++i)
        score += a[static_cast<std::size_t>(row * width + i)] *
                 b[static_cast<std::size_t>(key * width + i)];
      sum += shares.emplace_back(std::exp(score / std::sqrt(width)));
    }
    for (std::int64_t key = first; key <= row; ++key)
      for (std::int64_t i = 0; i < width; ++i)
        y[static_cast<std::size_t>(row * width + i)] +=
            shares[static_cast<std::size_t>(key - first)] / sum *
            c[static_cast<std::size_t>(key * width + i)];
  }
  return Tensor(y).reshape(Shape(q.shape()));
}

void show_attention() {
  section("1. Attention: batch 2, 8 steps, width 16, 4 heads");
  const auto random = [] { return heads_of(Tensor::randn({2, 8, 16}), 4).contiguous().realize(); };
  const Tensor q = random(), k = random(), v = random();
  const Tensor y = attention(q, k, v, true);
  std::cout << q.shape() << ": " << y.schedule().size() << " kernel(s), error "
            << largest_error(y, by_loops(q, k, v)) << "\n";
  check("as plain loops, to 1e-5", largest_error(y, by_loops(q, k, v)) < 1e-5);
  check("the first step sees itself alone",
        largest_error(y[{ellipsis, 0, Slice{}}], v[{ellipsis, 0, Slice{}}]) < 1e-6);
  const auto in_f64 = [](const Tensors& in) { return attention(in[0], in[1], in[2], true); };
  const Gradcheck result =
      gradcheck(in_f64, {q.to_double(), k.to_double(), v.to_double()}, {.samples = 40});
  std::cout << "its gradients are " << result << "\n";
  check("gradients", bool(result));
}

// --- 2. Positions ---------------------------------------------------------------------------------------

// Pairs of elements are turned by an angle that grows with the place: the product of two of them then depends on
// how far they are apart only. x is (..., time, width), one element of a pair is in each half.
Tensor rotary(const Tensor& x, std::int64_t first_place = 0) {
  const std::int64_t time = x.size(-2), half = x.size(-1) / 2;
  const Tensor places =
      Tensor::arange(first_place, first_place + time).cast(x.dtype()).reshape({time, 1});
  const Tensor speeds = pow(10000.0, -Tensor::arange(half).cast(x.dtype()) / half);
  const Tensor angles = places * speeds;
  const Tensors parts = x.chunk(2, -1);
  return Tensor::cat({parts[0] * angles.cos() - parts[1] * angles.sin(),
                      parts[1] * angles.cos() + parts[0] * angles.sin()},
                     -1);
}

void show_rotary() {
  section("2. Rotary positions (RoPE)");
  const Tensor x = Tensor::randn({2, 8, 16}).realize();
  check("as rotary_embedding()", largest_error(rotary(x), functional::rotary_embedding(x)) < 1e-5);
  check("lengths stay", largest_error(rotary(x).norm(2, -1), x.norm(2, -1)) < 1e-5);
  const Tensor here = (rotary(x)[{0, 3}] * rotary(x)[{1, 1}]).sum();
  const Tensor later = (rotary(x, 50)[{0, 3}] * rotary(x, 50)[{1, 1}]).sum();
  check("only distance counts", largest_error(here, later) < 1e-3);
}

// --- 3. Heads that share keys ---------------------------------------------------------------------------

// k and v have fewer heads than q; each serves as many queries in turn. Nothing is copied: the heads are views.
Tensor grouped_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const std::int64_t batch = q.size(0), each = q.size(1) / k.size(1);
  const auto repeated = [&](const Tensor& x) {
    return x.unsqueeze(2)
        .expand({batch, -1, each, -1, -1})
        .reshape({batch, q.size(1), x.size(2), x.size(3)});
  };
  return attention(q, repeated(k), repeated(v), true);
}

void show_grouped() {
  section("3. Grouped queries (GQA): 8 heads, 2 of keys");
  const Tensor q = Tensor::randn({2, 8, 16, 8}).realize();
  const Tensor k = Tensor::randn({2, 2, 16, 8}).realize(),
               v = Tensor::randn({2, 2, 16, 8}).realize();
  const Tensor expected =
      functional::scaled_dot_product_attention(q, k, v, {.is_causal = true, .enable_gqa = true});
  check("as scaled_dot_product_attention()",
        largest_error(grouped_attention(q, k, v), expected) < 1e-5);
}

// --- 4. Attention in blocks -----------------------------------------------------------------------------

// Keys come a block at a time. What was summed so far is scaled down when a larger score appears, so that no step
// needs more than one block of scores: this is what flash attention does.
Tensor attention_in_blocks(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t block) {
  const std::int64_t time = q.size(-2);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor rows = Tensor::arange(time).reshape({time, 1});
  Tensor most, sum, result;
  for (std::int64_t from = 0; from < time; from += block) {
    const Tensor keys = k.slice(-2, {from, from + block}),
                 values = v.slice(-2, {from, from + block});
    const Tensor seen = Tensor::arange(from, from + block) <= rows;
    const Tensor scores = seen.where(q.matmul(keys.mT()) * scale, -1e30);
    const Tensor before = most;
    most = scores.max(-1, true);
    if (!before.is_null()) most = most.maximum(before);
    const Tensor shares = seen.where((scores - most).exp(), 0);
    const Tensor part = shares.matmul(values), part_sum = shares.sum(-1, true);
    const Tensor shrink = before.is_null() ? Tensor(0.0f) : (before - most).exp();
    result = before.is_null() ? part : result * shrink + part;
    sum = before.is_null() ? part_sum : sum * shrink + part_sum;
  }
  return result / sum;
}

void show_blocks() {
  section("4. In blocks of 16 of 64 keys");
  const auto random = [] { return Tensor::randn({2, 4, 64, 16}).realize(); };
  const Tensor q = random(), k = random(), v = random();
  const Tensor blocks = attention_in_blocks(q, k, v, 16), whole = attention(q, k, v, true);
  std::cout << blocks.schedule().size() << " kernel(s), all at once " << whole.schedule().size()
            << "; the difference is " << largest_error(blocks, whole) << "\n";
  check("the same to 1e-5", largest_error(blocks, whole) < 1e-5);
}

// --- 5. A selective scan --------------------------------------------------------------------------------

// The state of Mamba: h_t = exp(dt_t a) h_{t-1} + dt_t b_t x_t, and y_t = c_t h_t. x and dt are (time, width), a is
// (width, state), b and c are (time, state).
struct Scan {
  Tensor x, dt, a, b, c;
};

Tensor step_by_step(const Scan& s) {
  Tensor h = Tensor::zeros(Shape(s.a.shape()), {.dtype = s.a.dtype()});
  Tensors outputs;
  for (std::int64_t t = 0; t < s.x.size(0); ++t) {
    const Tensor dt = s.dt[t].unsqueeze(1);
    h = (dt * s.a).exp() * h + dt * s.x[t].unsqueeze(1) * s.b[t];
    outputs.push_back((h * s.c[t]).sum(1));
  }
  return Tensor::stack(outputs);
}

// All steps at once: with p_t, the sum of dt a up to t, h_t is exp(p_t) times the running sum of exp(-p_s) times
// what came in at s.
Tensor by_running_sums(const Scan& s) {
  const Tensor dt = s.dt.unsqueeze(2), p = (dt * s.a).cumsum(0);
  const Tensor in = dt * s.x.unsqueeze(2) * s.b.unsqueeze(1);
  return (p.exp() * ((-p).exp() * in).cumsum(0) * s.c.unsqueeze(1)).sum(2);
}

void show_scan() {
  section("5. A selective scan (Mamba): 12 steps, width 6, state 4");
  const auto random = [](const Shape& shape) {
    return Tensor::randn(shape, {.dtype = dtypes::f64}).realize();
  };
  const Scan s{random({12, 6}), random({12, 6}).softplus().realize(),
               -random({6, 4}).exp().realize(), random({12, 4}), random({12, 4})};
  const auto x = s.x.to_vector<double>(), dt = s.dt.to_vector<double>(),
             a = s.a.to_vector<double>(), b = s.b.to_vector<double>(), c = s.c.to_vector<double>();
  std::vector<double> h(24), y(72);
  for (std::size_t t = 0; t < 12; ++t)
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t n = 0; n < 4; ++n) {
        const double step = dt[t * 6 + i];
        double& state = h[i * 4 + n];
        state = std::exp(step * a[i * 4 + n]) * state + step * b[t * 4 + n] * x[t * 6 + i];
        y[t * 6 + i] += state * c[t * 4 + n];
      }
  const Tensor expected = Tensor(y).reshape({12, 6});
  const std::pair<const char*, Tensor (*)(const Scan&)> scans[] = {
      {"step by step", step_by_step}, {"by running sums", by_running_sums}};
  for (const auto& [name, scan] : scans) {
    std::cout << name << ": " << scan(s).schedule().size() << " kernel(s), error "
              << largest_error(scan(s), expected) << "\n";
    check(name, largest_error(scan(s), expected) < 1e-9);
  }
  const auto scan = [&](const Tensors& in) {
    return by_running_sums({in[0], in[1], in[2], in[3], in[4]});
  };
  check("gradients", bool(gradcheck(scan, {s.x, s.dt, s.a, s.b, s.c}, {.samples = 12})));
}

int main() try {
  Tensor::manual_seed(42);
  show_attention();
  show_rotary();
  show_grouped();
  show_blocks();
  show_scan();
} catch (const std::exception& error) {
  return failed(error);
}
