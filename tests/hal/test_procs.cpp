#include <dlfcn.h>

#include <string_view>

#include "fixture.h"

namespace torch_webgpu::hal::testing {
namespace {

// A source that hides one symbol of the real implementation.
std::string_view g_hidden;
void* g_library = nullptr;
WGPUProc (*g_real)(WGPUStringView) = nullptr;

WGPUProc hiding_source(WGPUStringView name) {
  const std::string text = to_string(name);
  if (text == g_hidden) return nullptr;
  return g_real != nullptr
             ? g_real(name)
             : reinterpret_cast<WGPUProc>(dlsym(g_library, text.c_str()));
}

DeviceOptions without(std::string_view symbol) {
  DeviceOptions result = options();
  g_hidden = symbol;
  g_real = reinterpret_cast<decltype(g_real)>(result.procs.get_proc_address);
  if (g_real == nullptr) {
    g_library = dlopen(result.procs.library.c_str(), RTLD_NOW);
  }
  result.procs = {"", reinterpret_cast<void*>(&hiding_source)};
  return result;
}

TEST(Procs, ComeFromTheChosenImplementation) {
  const auto implementation =
      Implementation::create(options().implementation, options().procs);
#define X(name) EXPECT_NE(implementation->procs().name, nullptr) << #name;
  TORCH_WEBGPU_PROCS(X)
#undef X
}

TEST(Procs, MayComeFromAFunction) {
  const auto device = Device::create(without("no such symbol"));
  EXPECT_EQ(device->info().implementation,
            shared_device().info().implementation);
}

TEST(Procs, UnknownImplementationNamesTheTwo) {
  const auto text =
      message_of<Unavailable>([] { parse_implementation("vulkan"); });
  EXPECT_TRUE(contains(text, "\"vulkan\"")) << text;
  EXPECT_TRUE(contains(text, "\"wgpu\" or \"dawn\"")) << text;
}

TEST(Procs, MissingLibraryNamesPathAndRemedy) {
  for (const auto kind : {ImplementationKind::Wgpu, ImplementationKind::Dawn}) {
    DeviceOptions wrong;
    wrong.implementation = kind;
    wrong.procs.library = "/nowhere/libwebgpu.so";
    const auto text = message_of<Unavailable>([&] { Device::create(wrong); });
    EXPECT_TRUE(contains(text, "/nowhere/libwebgpu.so")) << text;
    EXPECT_TRUE(contains(text, "pip install")) << text;
    EXPECT_TRUE(contains(text, "_LIBRARY")) << text;
  }
}

TEST(Procs, NoSourceAtAllNamesTheRemedy) {
  DeviceOptions wrong = options();
  wrong.procs = {};
  const auto text = message_of<Unavailable>([&] { Device::create(wrong); });
  EXPECT_TRUE(contains(text, "was not found")) << text;
  EXPECT_TRUE(contains(text, "pip install")) << text;
}

TEST(Procs, LibraryWithoutWebGpuNamesTheFirstSymbol) {
  DeviceOptions wrong = options();
  wrong.procs = {"libm.so.6", nullptr};
  const auto text = message_of<Unavailable>([&] { Device::create(wrong); });
  EXPECT_TRUE(contains(text, "libm.so.6")) << text;
  EXPECT_TRUE(contains(text, "wgpuCreateInstance")) << text;
  EXPECT_TRUE(contains(text, "pip install")) << text;
}

TEST(Procs, MissingSymbolIsNamed) {
  const auto text = message_of<Unavailable>(
      [] { Device::create(without("wgpuQueueWriteBuffer")); });
  EXPECT_TRUE(contains(text, "does not provide wgpuQueueWriteBuffer")) << text;
  EXPECT_TRUE(contains(text, "pip install")) << text;
}

}  // namespace
}  // namespace torch_webgpu::hal::testing
