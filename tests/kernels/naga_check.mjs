// Validates WGSL with Naga and translates it as the Vulkan, Metal and D3D12
// backends of wgpu do. Standard input: one JSON object per line, {name, wgsl,
// entry_point}. Standard output: one {name, stage, error} per fault, then
// {checked}. The first argument is the folder that naga-wasm is installed in.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(`${process.argv[2]}/`));
const naga = await import(pathToFileURL(require.resolve("naga-wasm")));

const stages = [
  ["spirv", (module, info) => naga.writeSpirv(module, info)],
  [
    "msl",
    (module, info) => naga.writeMsl(module, info, { langVersion: [2, 4] }),
  ],
  // 6.2 is the first shader model with 16-bit types.
  [
    "hlsl",
    (module, info) => naga.writeHlsl(module, info, { shaderModel: "6_2" }),
  ],
];

function check(kernel) {
  let stage = "parse";
  let module;
  let info;
  try {
    module = naga.parseWgsl(kernel.wgsl);
    stage = "validate";
    info = naga.validate(module);
    for (const [name, write] of stages) {
      stage = name;
      const text = write(module, info);
      // An entry point that the WGSL lacks leaves nothing to translate.
      if (stage === "hlsl" && !text.includes(` ${kernel.entry_point}(`)) {
        throw new Error(`no entry point ${kernel.entry_point}`);
      }
    }
  } catch (error) {
    // A panic of Naga leaves its memory unusable: report it and stop.
    const panicked = error instanceof WebAssembly.RuntimeError;
    const message = error.formatted ?? String(error);
    console.log(JSON.stringify({ name: kernel.name, stage, error: message }));
    if (panicked) process.exit(1);
  }
  info?.free();
  module?.free();
}

let checked = 0;
for await (const line of createInterface({ input: process.stdin })) {
  check(JSON.parse(line));
  checked += 1;
}
console.log(JSON.stringify({ checked }));
