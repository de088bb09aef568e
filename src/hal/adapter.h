#pragma once

#include <vector>

#include "hal/context.h"
#include "hal/device.h"

// Internal to src/hal: from options to a context with an adapter or a device.

namespace torch_webgpu::hal {

// Loads the implementation and makes an instance; throws Unavailable.
std::unique_ptr<Context> open_instance(const DeviceOptions& options);
// Picks the adapter that the options name and fills adapter and info.
void choose_adapter(Context& context, const DeviceOptions& options);
// Makes device and queue with the adapter's full limits.
void open_device(Context& context);
// Bytes of RAM that this process may use.
uint64_t physical_memory();

}  // namespace torch_webgpu::hal
