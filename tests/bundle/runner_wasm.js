// For tests: node runner_wasm.js MODULE ARENA_BYTES [WEIGHTS]; does what runner.c does.
const fs = require('fs');
const [path, arenaBytes, weights] = process.argv.slice(2);
const module_ = new WebAssembly.Module(fs.readFileSync(path));
if (WebAssembly.Module.imports(module_).length) process.exit(10);
const e = new WebAssembly.Instance(module_).exports;
const at = (address, n) => new Uint8Array(e.memory.buffer, address, n);
const input = fs.readFileSync('in');
let first;
if (weights) {
  const bytes = fs.readFileSync(weights);
  at(e.weights_at(), bytes.length).set(bytes);
}
for (let run = 0; run < 2; run++) {
  at(e.data_at(), input.length).set(input);
  at(e.arena_at(), Number(arenaBytes)).fill(run ? 0xff : 0);
  const code = e.run();
  if (code) process.exit(code);
  const data = Buffer.from(at(e.data_at(), input.length));
  if (run && !first.equals(data)) process.exit(13);
  first = data;
}
fs.writeFileSync('out', first);
