import { fill } from '../durable-files.ts';
import { FIRST_RECORD, type parseHead } from './format.ts';
import { GlancedFile } from './glanced-file.ts';
import { WALK_CODE } from './walk-code.ts';
import {
  BEGINS_AT,
  FILE_AT,
  LISTS_AT,
  MORE,
  OFFSETS_AT,
  ROOM_BYTES,
  STATE,
  STATE_AT,
  WHOLE,
} from './walk-memory.ts';

/** What is used of WebAssembly. */
interface Compiled {
  readonly memory: { readonly buffer: ArrayBuffer };
  walk(size: number): number;
  continued(from: number, to: number, crc: number): number;
}
interface Compiler {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Compiled };
}

/** How much longer is what is read next than what was not enough. */
const GROWTH = 4;

let module: object | undefined;

/**
 * Makes the loop, with memory of its own.
 * @returns undefined where there is no WebAssembly, no address space for its memory, or another order of bytes
 */
function compiled(): Compiled | undefined {
  const compiler = (globalThis as { readonly WebAssembly?: Compiler }).WebAssembly;
  if (compiler === undefined || new Uint8Array(Uint32Array.of(1).buffer)[0] !== 1) return undefined;
  try {
    module ??= new compiler.Module(Buffer.from(WALK_CODE, 'base64'));
    return new compiler.Instance(module).exports;
  } catch {
    return undefined;
  }
}

/** A file of which the beginning was read. */
export interface Begun {
  readonly fd: number;
  readonly size: number;
  readonly first: Buffer;
  readonly parsed: NonNullable<ReturnType<typeof parseHead>>;
}

/**
 * Does the same as `readRecords`, for many records: code in WebAssembly is compiled at once, and quickly.
 * @see docs/decisions/0309
 * @returns `impossible` where it cannot be used
 */
export function walkRecords(
  { fd, size, first, parsed }: Begun,
  upTo: number,
): GlancedFile | undefined | 'impossible' {
  const own = compiled();
  if (own === undefined) return 'impossible';
  const { buffer } = own.memory;
  const state = new DataView(buffer, STATE_AT);
  state.setInt32(STATE.at, FIRST_RECORD, true);
  state.setInt32(STATE.crc, parsed.crc, true);
  state.setInt32(STATE.generation, parsed.head.generation, true);
  setNumber(state, STATE.revision, parsed.head.base);
  setNumber(state, STATE.upTo, upTo);
  const most = Math.min(size, ROOM_BYTES);
  const file = Buffer.from(buffer, FILE_AT, most);
  file.set(first);
  let { length } = first;
  for (;;) {
    state.setInt32(STATE.isAll, length === size ? 1 : 0, true);
    const outcome = own.walk(length);
    if (outcome === WHOLE) break;
    if (outcome !== MORE) return undefined;
    const added = fill(fd, file.subarray(length, GROWTH * length), length).length;
    // It is too long to be kept, or shorter than it was.
    if (added === 0) return undefined;
    length += added;
  }
  const records = state.getInt32(STATE.records, true);
  return new GlancedFile(file.subarray(0, length), state.getInt32(STATE.at, true), {
    lists: Buffer.from(buffer, LISTS_AT, state.getInt32(STATE.listed, true)),
    begins: new Int32Array(buffer, BEGINS_AT, records),
    offsets: new Int32Array(buffer, OFFSETS_AT, records),
    crcOf: (from, to) => ~own.continued(FILE_AT + from, FILE_AT + to, -1) >>> 0,
  });
}

/** Writes a number of up to 53 bits in 8 bytes, the least significant byte first. */
function setNumber(state: DataView, at: number, value: number): void {
  state.setInt32(at, value % 2 ** 32, true);
  state.setInt32(at + 4, value / 2 ** 32, true);
}
