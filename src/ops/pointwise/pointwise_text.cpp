// The text of the pointwise kernels.
#include "ops/pointwise/pointwise_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace torch_webgpu::ops {
namespace {

using wgsl::Compute;
using wgsl::DType;
using wgsl::Mode;
using wgsl::Width;

constexpr const char* kNames[] = {"a", "b", "c"};

// What a description is made of, for one variant.
struct Kernel {
  explicit Kernel(const PointwiseVariant& variant)
      : v(variant),
        op(pointwise_op(v.op)),
        dtype(static_cast<DType>(v.dtype)),
        in_dtype(static_cast<DType>(v.in_dtype)),
        out_dtype(pointwise_output(op, dtype)),
        compute(wgsl::compute_of(dtype)) {}

  DType dtype_of(int i) const { return op.mask == i ? DType::Bool : in_dtype; }
  bool predicate() const { return op.result == Result::Predicate; }
  std::string result() const {
    return predicate() ? "u32" : wgsl::name_of(compute);
  }
  bool walks() const { return v.rank > 0; }
  // The place of element `e` of an operand, in elements of its binding; `at` is
  // the walk's answer for it.
  std::string place(const char* name, Access access) const {
    return access == Access::Dense ? fmt::format("p.offset_{} + e", name)
                                   : fmt::format("p.offset_{0} + at.{0}", name);
  }
  std::string element(int i) const {
    return v.modes[i] == Mode::Scalar
               ? fmt::format("load_{}(0u)", kNames[i])
               : fmt::format("load_{}({})", kNames[i],
                             place(kNames[i], v.access[i]));
  }

  // The operator's numbers, by their names in its expression, and as the
  // parameters have them.
  std::vector<std::string> scalars() const {
    std::vector<std::string> names;
    for (int i = 0; i < op.scalars; ++i)
      names.push_back(fmt::format("s{}", i));
    return names;
  }
  std::string stored(const std::string& scalar) const {
    return compute == Compute::I64
               ? fmt::format("p.{}", scalar)
               : fmt::format("bitcast<{}>(p.{}.x)", wgsl::name_of(compute),
                             scalar);
  }

  const PointwiseVariant& v;
  const PointwiseOp& op;
  DType dtype, in_dtype, out_dtype;
  Compute compute;
};

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

// The expression as a function of one element of each input.
std::string value_text(const Kernel& k) {
  std::vector<std::string> arguments;
  std::string lines;
  for (int i = 0; i < k.op.inputs; ++i) {
    const DType of = k.dtype_of(i);
    arguments.push_back(fmt::format("stored_{}: {}", kNames[i],
                                    wgsl::name_of(wgsl::compute_of(of))));
    lines += fmt::format("  let {0} = {1}(stored_{0});\n", kNames[i],
                         k.op.mask == i ? "" : wgsl::conversion(of, k.dtype));
  }
  for (const std::string& name : k.scalars()) {
    arguments.push_back(fmt::format("{}: {}", name, wgsl::name_of(k.compute)));
  }
  const auto expression =
      k.predicate() ? fmt::format("select(0u, 1u, {})", k.op.expression)
                    : std::string(k.op.expression);
  return fmt::format("fn value({}) -> {} {{\n{}  return {};\n}}",
                     joined(arguments), k.result(), lines, expression);
}

void describe_element(const Kernel& k, wgsl::KernelText& text) {
  text.file = "pointwise";
  const uint32_t lanes = wgsl::lanes_of(k.out_dtype);
  std::string store;
  if (lanes > 1) {
    store = fmt::format(
        "if e < p.count && p.count - e >= lanes_o {{\n"
        "    var quad = vec4<{}>();\n"
        "    for (var k = 0u; k < lanes_o; k++) {{\n"
        "      quad[k] = element(e + k);\n"
        "    }}\n"
        "    write_o((p.offset_o + e) / lanes_o, pack4_{}(quad){});\n"
        "    return;\n  }}",
        k.result(), wgsl::name_of(k.out_dtype), lanes == 2 ? ".x" : "");
  }
  text.substitutions.emplace_back("store", store);
  text.substitutions.emplace_back("result", k.result());
  text.substitutions.emplace_back("places",
                                  k.walks() ? "  let at = at_all(e);" : "");
}

// How the chunk's quads of an operand are reached: declarations before the
// loop, in it and after each round, and quad j.
struct ChunkInput {
  std::string begin;
  std::string load;
  std::string advance;  // after each round
  std::vector<std::string> quads;
};

// The 16-byte unit with which the n-th chunk of an operand begins. `begin`
// gains the declaration that it needs.
std::string unit_text(const char* name, Access access, DType dtype,
                      uint32_t size, std::string& begin) {
  const uint32_t unit = wgsl::unit_of(dtype);
  if (access == Access::Dense) {
    begin += fmt::format("  let first_{0} = (p.offset_{0} + first) / {1}u;\n",
                         name, unit);
    return size == unit ? fmt::format("first_{} + n", name)
                        : fmt::format("first_{} + n * {}u", name, size / unit);
  }
  begin += fmt::format("  let origin_{0} = p.offset_{0};\n", name);
  return fmt::format("(origin_{0} + at.{0}) / {1}u", name, unit);
}

ChunkInput chunk_input(const Kernel& k, int i, uint32_t size) {
  const char* name = kNames[i];
  const std::string type = wgsl::quad_type(wgsl::compute_of(k.dtype_of(i)));
  ChunkInput input;
  const bool scalar = k.v.modes[i] == Mode::Scalar;
  const Access access = k.v.access[i];
  if (scalar || access == Access::Splat) {
    if (scalar) {
      input.begin = fmt::format("  let one_{0} = load_{0}(0u);\n", name);
    } else {
      input.begin = fmt::format("  let origin_{0} = p.offset_{0};\n", name);
      input.load = fmt::format(
          "    let one_{0} = load_{0}(origin_{0} + at.{0});\n", name);
    }
    input.quads.assign(size / 4, fmt::format("{0}(one_{1}, one_{1}, one_{1}, "
                                             "one_{1})",
                                             type, name));
    return input;
  }
  if (access == Access::Gather) {
    input.begin = fmt::format("  let step_{0} = p.at_{0}[0].x;\n", name);
    input.load =
        fmt::format("    let begin_{} = {};\n", name, k.place(name, access));
    for (uint32_t j = 0; j < size; j += 4) {
      std::vector<std::string> parts;
      for (uint32_t n = j; n < j + 4; ++n) {
        parts.push_back(
            fmt::format("load_{0}(begin_{0} + {1}u * step_{0})", name, n));
      }
      input.quads.push_back(fmt::format("{}({})", type, joined(parts)));
    }
    return input;
  }
  input.load =
      fmt::format("    let chunk{0} = chunk_{0}({1});\n", name,
                  unit_text(name, access, k.dtype_of(i), size, input.begin));
  for (uint32_t j = 0; j < size / 4; ++j)
    input.quads.push_back(fmt::format("quad{0}_{1}(chunk{1})", j, name));
  return input;
}

// The same for rows: where the operand is in the thread's first row, what a row
// adds to that, and the quads there.
ChunkInput row_input(const char* name, Access access, DType dtype,
                     uint32_t size) {
  const uint32_t unit = wgsl::unit_of(dtype);
  const std::string type = wgsl::quad_type(wgsl::compute_of(dtype));
  const bool units = access == Access::Walked || access == Access::Still;
  ChunkInput input;
  input.begin = fmt::format(
      "  var at_{0} = (p.offset_{0} + row * p.at_{0}[0].y + column * "
      "p.at_{0}[0].x) / {1}u;\n",
      name, units ? unit : 1);
  if (access != Access::Still) {
    input.begin += fmt::format("  let down_{0} = p.at_{0}[0].y / {1}u;\n", name,
                               units ? unit : 1);
    input.advance = fmt::format("    at_{0} += down_{0};\n", name);
  }
  if (units) {
    (access == Access::Still ? input.begin : input.load) +=
        fmt::format("    let chunk{0} = chunk_{0}(at_{0});\n", name);
    for (uint32_t j = 0; j < size / 4; ++j)
      input.quads.push_back(fmt::format("quad{0}_{1}(chunk{1})", j, name));
    return input;
  }
  if (access == Access::Splat) {
    input.load = fmt::format("    let one_{0} = load_{0}(at_{0});\n", name);
    input.quads.assign(
        size / 4,
        fmt::format("{0}(one_{1}, one_{1}, one_{1}, one_{1})", type, name));
    return input;
  }
  input.begin += fmt::format("  let step_{0} = p.at_{0}[0].x;\n", name);
  for (uint32_t j = 0; j < size; j += 4) {
    std::vector<std::string> parts;
    for (uint32_t n = j; n < j + 4; ++n) {
      parts.push_back(
          fmt::format("load_{0}(at_{0} + {1}u * step_{0})", name, n));
    }
    input.quads.push_back(fmt::format("{}({})", type, joined(parts)));
  }
  return input;
}

void describe_chunk(const Kernel& k, wgsl::KernelText& text) {
  const bool by_rows = k.v.form == Form::Rows;
  const uint32_t size = chunk_size(k.op, k.in_dtype, k.out_dtype);
  text.file = by_rows ? "pointwise_rows" : "pointwise_chunk";
  text.chunk = size;
  std::vector<std::string> arguments;
  std::string begin, loads, advance;
  std::vector<ChunkInput> inputs;
  for (int i = 0; i < k.op.inputs; ++i) {
    arguments.push_back(fmt::format(
        "{}: {}", kNames[i], wgsl::quad_type(wgsl::compute_of(k.dtype_of(i)))));
    inputs.push_back(
        by_rows && k.v.modes[i] != Mode::Scalar
            ? row_input(kNames[i], k.v.access[i], k.dtype_of(i), size)
            : chunk_input(k, i, size));
    begin += inputs.back().begin;
    loads += inputs.back().load;
    advance += inputs.back().advance;
  }
  for (const std::string& name : k.scalars()) {
    arguments.push_back(fmt::format("{}: {}", name, wgsl::name_of(k.compute)));
    begin += fmt::format("  let {} = {};\n", name, k.stored(name));
  }
  const auto set = [&](const char* key, std::string value) {
    text.substitutions.emplace_back(key, std::move(value));
  };
  // The expression for a quad, once for each component.
  std::vector<std::string> components;
  for (const char* component : {"x", "y", "z", "w"}) {
    std::vector<std::string> parts;
    for (int i = 0; i < k.op.inputs; ++i)
      parts.push_back(fmt::format("{}.{}", kNames[i], component));
    for (const std::string& name : k.scalars())
      parts.push_back(name);
    components.push_back(fmt::format("    value({})", joined(parts)));
  }
  const std::string result =
      k.predicate() ? "vec4<u32>" : wgsl::quad_type(k.compute);
  set("value4", fmt::format("fn value4({}) -> {} {{\n  return {}(\n{});\n}}",
                            joined(arguments), result, result,
                            fmt::join(components, ",\n")));
  std::vector<std::string> quads;
  for (uint32_t j = 0; j < size / 4; ++j) {
    std::vector<std::string> parts;
    for (const ChunkInput& input : inputs)
      parts.push_back(input.quads[j]);
    for (const std::string& name : k.scalars())
      parts.push_back(name);
    quads.push_back(fmt::format("        value4({})", joined(parts)));
  }
  set("quads", fmt::format("{}", fmt::join(quads, ",\n")));
  set("loads", loads);
  set("size", std::to_string(size));
  if (by_rows) {
    const ChunkInput out = row_input("o", Access::Walked, k.out_dtype, size);
    set("begin", begin + out.begin);
    set("advance", advance + out.advance);
    return;
  }
  // From one round to the next, the walk goes on along its inner dimension, and
  // begins anew where that ends.
  if (k.walks()) {
    begin += "  var at = at_all(first);\n  let size = p.at.sizes[0].x;\n";
    for (const std::string& name : text.walks[0].operands) {
      begin +=
          fmt::format("  let advance_{0} = advance * p.at_{0}[0].x;\n", name);
      advance += fmt::format("    at.{0} += advance_{0};\n", name);
    }
    advance += fmt::format(
        "    if at.x >= size {{\n"
        "      at = at_all(first + n * {}u + advance);\n    }}\n",
        size);
  }
  set("unit_o", unit_text("o", k.v.access_o, k.out_dtype, size, begin));
  set("begin", begin);
  set("advance", advance);
  set("place_o", k.v.access_o == Access::Dense ? "p.offset_o + i"
                                               : "p.offset_o + at_o(i)");
  set("places", k.walks() ? "  let at = at_all(e);" : "");
  set("result", k.result());
}

}  // namespace

wgsl::KernelText describe_pointwise(const PointwiseVariant& v) {
  const Kernel k(v);
  const bool chunked = v.form != Form::Element;
  wgsl::KernelText text;
  text.compute = k.compute;
  text.params = PointwiseParams::wgsl();
  text.label = fmt::format("{}_{}", k.op.name, wgsl::name_of(k.dtype));
  if (k.in_dtype != k.dtype) {
    text.label += fmt::format("_from_{}", wgsl::name_of(k.in_dtype));
  }
  const bool by_rows = v.form == Form::Rows;
  text.label += by_rows ? "_rows_" : chunked ? "_chunk_" : "_";
  wgsl::WalkText walk{"at", {}, v.rank};
  std::vector<std::string> elements;
  for (int i = 0; i < k.op.inputs; ++i) {
    const Mode mode = v.modes[i];
    const Access access = v.access[i];
    const bool wide =
        chunked && access != Access::Splat && access != Access::Gather;
    text.label += mode == Mode::Read     ? "dwsgr"[size_t(access)]
                  : mode == Mode::Shared ? 'i'
                                         : 'n';
    text.operands.push_back({kNames[i], k.dtype_of(i), mode, 1, "o",
                             wide ? Width::Chunk : Width::Element});
    if (mode != Mode::Scalar && access != Access::Dense)
      walk.operands.push_back(kNames[i]);
    elements.push_back(k.element(i));
  }
  for (const std::string& name : k.scalars())
    elements.push_back(k.stored(name));
  text.operands.push_back({"o", k.out_dtype, Mode::Write, 1, "",
                           chunked ? Width::Chunk : Width::Element});
  if (v.access_o != Access::Dense) {
    walk.operands.push_back("o");
    text.label += "_to_w";
  }
  if (chunked && k.walks()) walk.operands.push_back("x");
  text.label += fmt::format("_x{}", v.workgroup);
  if (k.walks() && !by_rows) {
    text.label += fmt::format("_r{}", v.rank);
    text.walks.push_back(walk);
  }
  text.substitutions = {{"value", value_text(k)},
                        {"workgroup", std::to_string(v.workgroup)}};
  if (!by_rows) text.substitutions.emplace_back("elements", joined(elements));
  if (chunked) {
    describe_chunk(k, text);
  } else {
    describe_element(k, text);
  }
  return text;
}

}  // namespace torch_webgpu::ops
