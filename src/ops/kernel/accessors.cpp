#include "ops/kernel/accessors.h"

#include <fmt/format.h>

#include "ops/kernel/assembler.h"

namespace torch_webgpu::wgsl {
namespace {

uint32_t bytes_of(DType dtype) {
  return 16 / unit_of(dtype);
}

const char* word_type(uint32_t words) {
  return words == 1 ? "u32" : words == 2 ? "vec2<u32>" : "vec4<u32>";
}

// The words of a quad, or of half of an int64 one.
const char* quad_words(DType dtype) {
  return word_type(std::min(bytes_of(dtype), 4u));
}

// Words of one element of the binding.
uint32_t binding_words(const Operand& operand) {
  switch (operand.width) {
    case Width::Element:
      return 1;
    case Width::Quad:
      return std::min(bytes_of(operand.dtype), 4u);
    case Width::Chunk:
      return 4;
  }
  return 1;
}

// What an accessor's argument i counts: 32-bit words, or the binding's elements
// (which are words, too, unless the operand is wide).
enum class Count : uint8_t { Words, Elements };

// One accessor over a view that is bound whole or in windows; {} in the
// statement is the place of what it accesses.
std::string over_windows(const Operand& operand, const std::string& head,
                         const std::string& statement, Count count) {
  const uint32_t words = binding_words(operand);
  const uint32_t shift = words / 2;  // 1, 2 or 4 words
  const bool part = count == Count::Words && words > 1;
  const auto at = [&](uint32_t window, const char* index) {
    const std::string element =
        part ? fmt::format("[{0} >> {1}u][{0} & {2}u]", index, shift, words - 1)
             : fmt::format("[{}]", index);
    return replace_all(
        statement, "{}",
        fmt::format("words_{}_{}{}", operand.name, window, element));
  };
  if (operand.windows == 1) {
    return fmt::format("{} {{\n  {}\n}}\n", head, at(0, "i"));
  }
  const uint32_t bits =
      count == Count::Words ? kWindowShift : kWindowShift - shift;
  std::string text =
      fmt::format("{} {{\n  let at = i & {}u;\n  switch i >> {}u {{\n", head,
                  (1u << bits) - 1, bits);
  for (uint32_t w = 0; w + 1 < operand.windows; ++w) {
    text += fmt::format("    case {}u: {{\n      {}\n    }}\n", w, at(w, "at"));
  }
  text += fmt::format("    default: {{\n      {}\n    }}\n  }}\n}}\n",
                      at(operand.windows - 1, "at"));
  return text;
}

// read4_ and write4_, on which the storage functions of quads stand: the words
// of four elements, half of them for int64.
void add_quads(Linker& linker, const Operand& operand) {
  const std::string& name = operand.name;
  if (operand.mode == Mode::Shared) {
    linker.add("read4_" + name, fmt::format("fn read4_{0}(q: u32) -> {1} {{\n"
                                            "  return read4_{2}(q);\n}}\n",
                                            name, quad_words(operand.dtype),
                                            operand.shared_with));
    return;
  }
  if (binding_words(operand) != std::min(bytes_of(operand.dtype), 4u)) return;
  const char* words = quad_words(operand.dtype);
  linker.add("read4_" + name,
             over_windows(operand,
                          fmt::format("fn read4_{}(i: u32) -> {}", name, words),
                          "return {};", Count::Elements));
  linker.add(
      "write4_" + name,
      over_windows(operand,
                   fmt::format("fn write4_{}(i: u32, value: {})", name, words),
                   "{} = value;", Count::Elements));
}

// The part of chunk `c` that holds the words of quad j.
std::string quad_part(DType dtype, uint32_t j) {
  switch (bytes_of(dtype)) {
    case 1:
      return fmt::format("c[{}].{}", j / 4, "xyzw"[j % 4]);
    case 2:
      return fmt::format("c[{}].{}", j / 2, j % 2 == 0 ? "xy" : "zw");
    case 4:
      return fmt::format("c[{}]", j);
    default:
      return fmt::format("c[{}], c[{}]", 2 * j, 2 * j + 1);
  }
}

void add_chunks(Linker& linker, const Operand& operand, uint32_t chunk) {
  const std::string& name = operand.name;
  const DType dtype = operand.dtype;
  const uint32_t units = chunk / unit_of(dtype);
  const std::string type = fmt::format("array<vec4<u32>, {}>", units);
  if (operand.mode == Mode::Shared) {
    linker.add("chunk_" + name, fmt::format("fn chunk_{}(v: u32) -> {} {{\n"
                                            "  return chunk_{}(v);\n}}\n",
                                            name, type, operand.shared_with));
  } else {
    std::string parts;
    for (uint32_t u = 0; u < units; ++u) {
      parts += fmt::format("{}words_{}_0[v + {}u]", u ? ", " : "", name, u);
    }
    linker.add("chunk_" + name, fmt::format("fn chunk_{0}(v: u32) -> {1} {{\n"
                                            "  return {1}({2});\n}}\n",
                                            name, type, parts));
  }
  const std::string quad = quad_type(compute_of(dtype));
  for (uint32_t j = 0; j < chunk / 4; ++j) {
    linker.add(
        fmt::format("quad{}_{}", j, name),
        fmt::format("fn quad{}_{}(c: {}) -> {} {{\n"
                    "  return unpack4_{}({});\n}}\n",
                    j, name, type, quad, name_of(dtype), quad_part(dtype, j)));
  }
  if (operand.mode != Mode::Write) return;
  std::string arguments, statements;
  for (uint32_t j = 0; j < chunk / 4; ++j) {
    arguments += fmt::format(", q{}: {}", j, quad);
    const auto packed = fmt::format("pack4_{}(q{})", name_of(dtype), j);
    switch (bytes_of(dtype)) {
      case 4:
        statements +=
            fmt::format("  words_{}_0[v + {}u] = {};\n", name, j, packed);
        break;
      case 8:
        statements += fmt::format(
            "  words_{0}_0[v + {1}u] = vec4<u32>(q{3}.x, q{3}.y);\n"
            "  words_{0}_0[v + {2}u] = vec4<u32>(q{3}.z, q{3}.w);\n",
            name, 2 * j, 2 * j + 1, j);
        break;
      default: {
        // Several quads make one unit.
        const uint32_t quads = 4 / bytes_of(dtype);
        if (j % quads == 0) {
          statements += fmt::format("  words_{}_0[v + {}u] = vec4<u32>(", name,
                                    j / quads);
        }
        statements += packed + (j % quads + 1 == quads ? ");\n" : ", ");
      }
    }
  }
  linker.add("store_chunk_" + name,
             fmt::format("fn store_chunk_{}(v: u32{}) {{\n{}}}\n", name,
                         arguments, statements));
}

}  // namespace

std::string quad_type(Compute compute) {
  return compute == Compute::I64 ? "I64x4"
                                 : fmt::format("vec4<{}>", name_of(compute));
}

std::string binding_type(const Operand& operand) {
  if (operand.mode == Mode::Scatter) return "atomic<u32>";
  return word_type(binding_words(operand));
}

void add_accessors(Linker& linker, const Operand& operand, uint32_t chunk) {
  const std::string& name = operand.name;
  linker.add("lanes_" + name, fmt::format("const lanes_{} = {}u;\n", name,
                                          lanes_of(operand.dtype)));
  const auto read_head = fmt::format("fn read_{}(i: u32) -> u32", name);
  const auto write_head = fmt::format("fn write_{}(i: u32, value: u32)", name);
  const auto add = [&](const std::string& function, const std::string& head,
                       const std::string& statement) {
    linker.add(function, over_windows(operand, head, statement, Count::Words));
  };
  switch (operand.mode) {
    case Mode::Read:
      add("read_" + name, read_head, "return {};");
      break;
    case Mode::Write:
      add("read_" + name, read_head, "return {};");
      add("write_" + name, write_head, "{} = value;");
      break;
    case Mode::Scatter: {
      add("read_" + name, read_head, "return atomicLoad(&{});");
      add("write_" + name, write_head, "atomicStore(&{}, value);");
      constexpr std::pair<const char*, const char*> kAtomics[] = {
          {"add", "atomicAdd"}, {"or", "atomicOr"}, {"and", "atomicAnd"}};
      for (const auto& [short_name, builtin] : kAtomics) {
        const auto function = fmt::format("atomic_{}_{}", short_name, name);
        add(function, fmt::format("fn {}(i: u32, value: u32) -> u32", function),
            fmt::format("return {}(&{{}}, value);", builtin));
      }
      const auto swap = "atomic_swap_" + name;
      add(swap,
          fmt::format("fn {}(i: u32, expected: u32, value: u32) -> bool", swap),
          "return atomicCompareExchangeWeak(&{}, expected, value).exchanged;");
      break;
    }
    case Mode::Shared:
      linker.add("read_" + name,
                 fmt::format("{} {{\n  return read_{}(i);\n}}\n", read_head,
                             operand.shared_with));
      break;
    case Mode::Scalar: {
      const auto compute = compute_of(operand.dtype);
      const std::string value = compute == Compute::I64
                                    ? fmt::format("p.value_{}", name)
                                    : fmt::format("bitcast<{}>(p.value_{}.x)",
                                                  name_of(compute), name);
      linker.add("load_" + name,
                 fmt::format("fn load_{}(i: u32) -> {} {{\n  return {};\n}}\n",
                             name, name_of(compute), value));
      return;
    }
    case Mode::Absent:
      return;
  }
  linker.add_storage(operand);
  if (operand.width != Width::Element) add_quads(linker, operand);
  if (operand.width == Width::Chunk) add_chunks(linker, operand, chunk);
}

namespace {

// Element d of an array of eight in the parameters.
std::string eighth(const std::string& array, const std::string& d) {
  return fmt::format("p.{0}[{1} >> 2u][{1} & 3u]", array, d);
}

// One dimension of a walk: what is left of the index, and where it leads.
std::string walk_step(const WalkText& walk,
                      const std::vector<std::string>& operands,
                      const std::string& d) {
  std::string text = fmt::format(
      "    let next = walk_divide(rest, {}, {});\n"
      "    let at = rest - next * {};\n"
      "    rest = next;\n",
      eighth(walk.name + ".magic", d), eighth(walk.name + ".shift", d),
      eighth(walk.name + ".sizes", d));
  for (const std::string& operand : operands) {
    text += fmt::format("    {} += at * {};\n", operand,
                        eighth(walk.name + "_" + operand, d));
  }
  return text;
}

std::string walk_function(const WalkText& walk, const std::string& name,
                          const std::vector<std::string>& operands,
                          const std::string& result, const std::string& type) {
  std::string begin, steps, end;
  for (const std::string& operand : operands) {
    begin += fmt::format("  var {} = 0u;\n", operand);
    const std::string last =
        walk.rank ? std::to_string(walk.rank - 1) + "u" : "d";
    end += fmt::format("  {} += rest * {};\n", operand,
                       eighth(walk.name + "_" + operand, last));
  }
  if (walk.rank == 0) {
    steps = fmt::format(
        "  var d = 0u;\n  for (; d + 1u < p.{}.rank; d++) {{\n{}  }}\n",
        walk.name, walk_step(walk, operands, "d"));
  }
  for (uint32_t d = 0; d + 1 < walk.rank; ++d) {
    steps += fmt::format("  {{\n{}  }}\n",
                         walk_step(walk, operands, std::to_string(d) + "u"));
  }
  return fmt::format(
      "fn {}(e: u32) -> {} {{\n  var rest = e;\n{}{}{}  return {};\n}}\n", name,
      type, begin, steps, end, result);
}

}  // namespace

void add_walk(Linker& linker, const WalkText& walk) {
  std::string fields, values;
  for (const std::string& operand : walk.operands) {
    const std::string name = fmt::format("{}_{}", walk.name, operand);
    linker.add(name, walk_function(walk, name, {operand}, operand, "u32"));
    fields += fmt::format("  {}: u32,\n", operand);
    values += (values.empty() ? "" : ", ") + operand;
  }
  const std::string type = "Places_" + walk.name;
  linker.add(type, fmt::format("struct {} {{\n{}}}\n", type, fields));
  const std::string all = walk.name + "_all";
  linker.add(all, walk_function(walk, all, walk.operands,
                                fmt::format("{}({})", type, values), type));
}

}  // namespace torch_webgpu::wgsl
