import { once } from 'node:events';
import { closeSync, createWriteStream, existsSync, fstatSync, openSync, readSync, truncateSync } from 'node:fs';
import { extname } from 'node:path';
import type { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';
import { keysOf, LEDGER_API_SETTINGS, SCAN_SETTINGS } from '../config/setting-list.ts';
import { counted } from '../counted.ts';
import { Refusal } from '../refusal.ts';
import type { CliCommand } from './command.ts';
import { openNetworkLines } from './transfer/network-lines.ts';

const NOTHING: Tail = { lines: [], endsAt: 0 };

export const fetchCommand: CliCommand = {
  usage: 'fetch',
  summary: "Write a network's updates as lines, to standard output or a file, until the end reached now",
  examples: [
    'holdfast fetch --scan https://scan.example --output updates.ndjson',
    'holdfast fetch --scan https://scan.example --start beginning --output history.ndjson.zst',
    'holdfast fetch --ledger-api http://participant:7575 --ledger-api-parties alice::1220ab --migration-id 4 --output updates.ndjson',
  ],
  dataDir: 'unused',
  settings: [...keysOf(SCAN_SETTINGS), ...keysOf(LEDGER_API_SETTINGS), 'migrationId'],
  addOptions: (command) =>
    command
      .option(
        '--output <FILE>',
        'the file, compressed where its name ends in .gz or .zst; an existing plain one is continued',
      )
      .option('--follow', 'continue at the end, until SIGTERM or SIGINT'),
  run: async ({ options, config, terminal, logger }) => {
    if (config.scan === null && config.ledgerApi === null)
      throw new Refusal('--scan or --ledger-api says which network to fetch');
    const path = (options.output as string | undefined) ?? null;
    const tail = path === null ? NOTHING : readTail(path);
    const stop = terminal.stopSignal();
    const network = openNetworkLines(
      { ends: [tail.lines], name: `--output ${path}`, otherwise: 'name another file' },
      config,
      { follow: options.follow === true, stop, logger },
    );
    let output: ReturnType<typeof openLinesFile> | null = null;
    let updates = 0;
    try {
      for await (const step of network.read()) {
        if (step === 'begins') output = openLinesFile(path, terminal.stdout, tail.endsAt);
        else if (step !== 'restarts') await output!.write(step);
        else if (updates > 0) await output!.clear();
        updates += typeof step === 'string' ? 0 : step.length;
      }
    } finally {
      await output?.end();
    }
    logger.info({ updates, output: path }, `${counted(updates, 'line')} written`);
  },
};

/** How much of the end of a file is looked at: far more than a minute of the real network's updates. */
const TAIL_BYTES = 64 * 2 ** 20;
const [LF, CR, SPACE, OPENING_BRACE] = [0x0a, 0x0d, 0x20, 0x7b];

/** The end of a file that may be continued. */
interface Tail {
  /** The whole lines; what follows the last of them is half a line. */
  readonly lines: readonly Buffer[];
  /** Where the last whole line ends: the file is continued there. */
  readonly endsAt: number;
}

function readTail(path: string): Tail {
  if (!existsSync(path)) return NOTHING;
  if (packerOf(path) !== undefined)
    throw new Refusal(
      `--output ${path}: is there already, and a compressed file cannot be continued; name another one`,
    );
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(file, tail, 0, tail.length, size - tail.length);
    const end = tail.lastIndexOf(LF) + 1;
    if (end === 0 && (size > TAIL_BYTES || (size > 0 && tail[0] !== OPENING_BRACE)))
      throw new Refusal(`--output ${path}: ends with no line of a feed; name another one`);
    const start = tail.length === size ? 0 : tail.indexOf(LF) + 1;
    return { lines: linesOf(tail.subarray(start, end)), endsAt: size - tail.length + end };
  } finally {
    closeSync(file);
  }
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LF, start);
    if (end > start) lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

const PACKERS: Readonly<Record<string, typeof createGzip | typeof createZstdCompress>> = {
  '.gz': createGzip,
  '.zst': createZstdCompress,
};

function packerOf(path: string) {
  return PACKERS[extname(path)];
}

/** Updates written as lines. Null: standard output. A plain file is continued at the end of its last whole line. */
export function openLinesFile(path: string | null, stdout: Writable, endsAt: number) {
  if (path !== null && existsSync(path) && packerOf(path) === undefined) truncateSync(path, endsAt);
  let out: Output = path === null ? { into: stdout, done: Promise.resolve() } : openOutput(path, 'a');
  return {
    /** Waits while what is written is not taken. */
    async write(messages: readonly Uint8Array[]): Promise<void> {
      for (const message of messages) {
        if (out.into.write(lineOf(message))) continue;
        try {
          await once(out.into, 'drain', { signal: out.failed });
        } catch (error) {
          // It says why.
          await out.done;
          throw error;
        }
      }
    },
    /** Restarts the file; throws where what was written cannot be taken back. */
    async clear(): Promise<void> {
      if (path === null)
        throw new Error('the snapshot import has to restart, and what was written of it cannot be taken back');
      out.into.end();
      await out.done;
      out = openOutput(path, 'w');
    },
    /** Resolves when everything is written. */
    async end(): Promise<void> {
      if (path !== null) out.into.end();
      await out.done;
    },
  };
}

interface Output {
  readonly into: Writable;
  /** When everything is written; rejects with what went wrong. */
  readonly done: Promise<void>;
  /** Aborts then: a stream that has failed never drains. */
  readonly failed?: AbortSignal;
}

function openOutput(path: string, flags: 'a' | 'w'): Output {
  const file = createWriteStream(path, { flags });
  const packing = packerOf(path)?.();
  const failing = new AbortController();
  const done = (packing === undefined ? finished(file) : pipeline(packing, file)).catch((error: Error) => {
    failing.abort();
    // The system's errors of writing name no file.
    throw Object.assign(error, { path });
  });
  done.catch(() => undefined);
  return { into: packing ?? file, done, failed: failing.signal };
}

/** A message may be printed over several lines. White space within its strings is always escaped. */
function lineOf(message: Uint8Array): Buffer {
  const line = Buffer.concat([message, Buffer.of(LF)]);
  for (let i = 0; i < line.length - 1; i++) if (line[i] === LF || line[i] === CR) line[i] = SPACE;
  return line;
}
