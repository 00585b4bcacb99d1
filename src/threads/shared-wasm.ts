import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

/** As far as it is used: TypeScript has its types only with those of browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

/**
 * What a module of WebAssembly exports, in an instance of this thread. Threads that this one starts use its code: where the main
 * thread has it, it is compiled once and freed when the process ends. V8 does not safely free it earlier (nodejs/node issue 64500).
 */
export function instanceOf(name: string, base64: string): unknown {
  return new WebAssembly.Instance(moduleOf(`wasm ${name}`, base64)).exports;
}

function moduleOf(key: string, base64: string): object {
  const inherited: unknown = getEnvironmentData(key);
  if (inherited instanceof WebAssembly.Module) return inherited;
  const compiled = new WebAssembly.Module(Buffer.from(base64, 'base64'));
  setEnvironmentData(key, compiled as never);
  return compiled;
}
