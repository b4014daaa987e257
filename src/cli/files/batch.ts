import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wipe } from '../../ground/bytes.ts';
import { attempt, CofferError, invalid } from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import type { BatchShape, Operation, Runner } from '../../operations/declaration/operation.ts';
import { diskReason } from '../../store/backends/files/disk-errors.ts';
import { DONE, FAILED, NOT_VALID } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { ProgressBar } from '../terminal/progress.ts';
import { ClosedPipe, chunksOf, writeWhole } from '../terminal/streams.ts';
import { inBoundedCalls, MOST_ITEMS, MOST_SIZE, warnOnce } from './bounded-calls.ts';
import { type InFile, openInFile } from './in-file.ts';
import { announceStandardInput } from './input.ts';
import { type JsonItem, jsonItems } from './json-items.ts';
import { type OutPlace, openOutFile, refuseSameFile } from './out-file.ts';

interface BatchRequest {
  readonly operation: Operation;
  /** Parameter that takes the items. */
  readonly param: string;
  /** Values common to all items. */
  readonly raw: Readonly<Record<string, unknown>>;
  /** File, or `-` for standard input. */
  readonly from: string;
  /** File of `--out`. */
  readonly to: OutPlace | undefined;
}

/** Item of the input: its value, or the error. */
type Element = { readonly value: JsonObject; readonly bytes: number } | { readonly error: string };

interface Tally {
  items: number;
  failed: number;
  notValid: number;
}

/**
 * Runs an operation on a stream of items, in slices, and writes one JSON line for each, in order. An item that fails,
 * or is not JSON, gets a line `{"error":…}`, and the others are still processed.
 * @returns exit code: 1 if an item failed, otherwise 5 if one is not valid
 */
export async function runBatch(session: Session, request: BatchRequest): Promise<number> {
  const file = request.from === '-' ? undefined : openInFile(request.from, 'batch');
  refuseSameFile(file === undefined ? undefined : request.from, request.to?.path);
  if (file === undefined) announceStandardInput(session);
  const runner = await session.runner();
  const out = request.to === undefined ? undefined : openOutFile(request.to);
  // A file appears once it is complete; printed output cannot be taken back if the batch is refused at its end.
  const held = out === undefined && request.operation.cli?.batch?.bare ? new HeldOutput() : undefined;
  const progress = new ProgressBar(session, {
    bytes: file?.bytes,
    noun: 'items',
    besideOutput: request.to === undefined,
  });
  try {
    const calls = new BatchCalls(session, runner, request);
    const write = (text: string): void => (out ?? held ?? session.streams.out).write(text);
    const tally = await runAll(calls, counted(session, file, progress), write, progress);
    held?.release((bytes) => session.streams.out.write(bytes));
    await out?.commit();
    progress.close();
    if (calls.hasCreated) {
      const { sayCreated } = await import('../near-names.ts');
      await sayCreated(session, [{ kind: 'key', name: String(request.raw['name']) }], {});
    }
    if (tally.failed > 0) session.fail(`${tally.failed} of ${tally.items} items failed`);
    if (tally.failed > 0) return FAILED;
    return tally.notValid > 0 ? NOT_VALID : DONE;
  } catch (error) {
    // A reader that closes the pipe may still rely on the exit code, and the rest was not checked.
    if (error instanceof ClosedPipe && request.operation.cli?.holds !== undefined) return FAILED;
    throw error;
  } finally {
    progress.close();
    out?.abort();
    held?.close();
    file?.close();
  }
}

async function* counted(
  session: Session,
  file: InFile | undefined,
  progress: ProgressBar,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunksOf(file ?? session.streams.in)) {
    progress.bytesRead(chunk.length);
    yield chunk;
  }
}

async function runAll(
  calls: BatchCalls,
  chunks: AsyncIterable<Buffer>,
  write: (text: string) => void,
  progress: ProgressBar,
): Promise<Tally> {
  const tally: Tally = { items: 0, failed: 0, notValid: 0 };
  for await (const slice of slicesOf(jsonItems(chunks))) {
    const results = await calls.run(slice);
    for (const result of results) count(tally, result, calls.request.operation);
    write(results.map((result) => `${JSON.stringify(result)}\n`).join(''));
    progress.done(slice.length);
  }
  return tally;
}

const isFailed = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'error' in result;

function count(tally: Tally, result: unknown, operation: Operation): void {
  tally.items++;
  if (isFailed(result)) tally.failed++;
  else if (operation.cli?.holds?.(result) === false) tally.notValid++;
}

async function* slicesOf(arrivals: AsyncIterable<readonly JsonItem[]>): AsyncGenerator<readonly Element[]> {
  const of = (element: Element): number => ('bytes' in element ? element.bytes : 0);
  const bounds = { items: MOST_ITEMS, size: { most: MOST_SIZE, of } };
  for await (const items of arrivals) yield* inBoundedCalls(items.map(elementOf), bounds);
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function elementOf(item: JsonItem): Element {
  if ('problem' in item) return { error: item.problem };
  const value: unknown = attempt(() => JSON.parse(decoder.decode(item.bytes)));
  if (value === undefined) return { error: 'the item is not JSON' };
  return isObject(value) ? { value, bytes: item.bytes.length } : { error: 'the item is not a JSON object' };
}

function resultsOf(data: unknown, expected: number): readonly unknown[] {
  const results = (data as { readonly batch_results?: unknown } | undefined)?.batch_results;
  if (Array.isArray(results) && results.length === expected) return results;
  throw invalid('unexpected response: wrong number of results');
}

/** Calls that a batch is divided into. The result of an item does not depend on the division. */
class BatchCalls {
  readonly request: BatchRequest;
  readonly #runner: Runner;
  readonly #shape: BatchShape;
  readonly #warn: ReturnType<typeof warnOnce>;
  /** One minimal item of each kind seen so far. */
  readonly #kinds = new Set<object>();
  #isAsked = false;
  /** Whether a call has created the key. */
  hasCreated = false;
  /** Whether an item has succeeded, so that the key is known to exist. */
  #isSettled = false;

  constructor(session: Session, runner: Runner, request: BatchRequest) {
    this.#warn = warnOnce(session);
    this.#runner = runner;
    this.request = request;
    this.#shape = request.operation.cli?.batch ?? {};
  }

  /**
   * Processes a slice.
   * @returns one result for each element, in order
   * @throws errors that refuse the whole batch; always before the first slice is answered, unless the whole batch is
   * needed to find out
   */
  async run(slice: readonly Element[]): Promise<readonly unknown[]> {
    const values: JsonObject[] = [];
    for (const element of slice) if ('value' in element) values.push(element.value);
    if (values.length === 0 && !this.#isAsked) await this.#call([{}]);
    await this.#requireTogether(values);
    const results = await this.#resultsOf(values);
    let next = 0;
    return slice.map((element) => ('error' in element ? { error: element.error } : results[next++]));
  }

  /**
   * Returns one result for each value, in order. Usually one call has all of them, and its answer is returned
   * unchanged.
   */
  async #resultsOf(values: readonly JsonObject[]): Promise<readonly unknown[]> {
    const { apart } = this.#shape;
    const [first] = values;
    if (first === undefined) return [];
    if (apart === undefined || values.every((value) => apart(value) === apart(first)))
      return this.#answers(values);
    const results = new Map<object, unknown>();
    for (let from = 0; from < values.length; ) {
      const together = this.#next(values, from, results);
      const answers = await this.#answers(together);
      for (const [at, value] of together.entries()) results.set(value, answers[at]);
      while (from < values.length && results.has(values[from] ?? {})) from++;
    }
    return values.map((value) => results.get(value));
  }

  async #answers(values: readonly JsonObject[]): Promise<readonly unknown[]> {
    const answers = await this.#call(values);
    this.#isSettled ||= !answers.every(isFailed);
    return answers;
  }

  /**
   * Returns the values of the next call, without those that have results; consecutive ones as long as the order
   * matters.
   */
  #next(
    values: readonly JsonObject[],
    from: number,
    results: ReadonlyMap<object, unknown>,
  ): readonly JsonObject[] {
    const { apart } = this.#shape;
    const first = values[from];
    if (apart === undefined || first === undefined) return values.slice(from);
    const side = apart(first);
    const rest = values.slice(from).filter((value) => !results.has(value));
    if (this.#isSettled) return rest.filter((value) => apart(value) === side);
    const end = rest.findIndex((value) => apart(value) !== side);
    return end < 0 ? rest : rest.slice(0, end);
  }

  /**
   * Checks that items of these kinds may be in one batch with the earlier ones.
   * @throws the error of a call with both
   */
  async #requireTogether(values: readonly JsonObject[]): Promise<void> {
    const { bare } = this.#shape;
    if (bare === undefined) return;
    const before = this.#kinds.size;
    for (const value of values) this.#kinds.add(bare(value));
    if (before > 0 && this.#kinds.size > before) await this.#call([...this.#kinds]);
  }

  async #call(values: readonly object[]): Promise<readonly unknown[]> {
    this.#isAsked = true;
    const { operation, raw, param } = this.request;
    const outcome = await this.#runner.run(operation, { ...raw, [param]: values });
    this.#warn(outcome.warnings);
    this.hasCreated ||= outcome.created === true;
    return resultsOf(outcome.data, values.length);
  }
}

/** Maximum size in memory, in bytes; more is written to a file. */
const MEMORY_BYTES = 1 << 20;
const READ_BYTES = 1 << 16;
const OWNER_ONLY = 0o600;

/**
 * Output that is held back until it may be printed. It uses constant memory for any size. On disk it is encrypted with
 * a key that only this process has, in a file that is already unlinked.
 */
export class HeldOutput {
  #parts: Buffer[] = [];
  #bytes = 0;
  #file: HeldFile | undefined;

  write(text: string): void {
    const bytes = Buffer.from(text);
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes < MEMORY_BYTES) return;
    this.#file ??= new HeldFile();
    this.#file.write(Buffer.concat(this.#parts));
    this.#parts = [];
    this.#bytes = 0;
  }

  /** Prints everything that was written, in order. */
  release(print: (bytes: Uint8Array) => void): void {
    this.#file?.read(print);
    for (const part of this.#parts) print(part);
    this.close();
  }

  /** Discards the rest. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#parts = [];
  }
}

class HeldFile {
  readonly #key = randomBytes(32);
  readonly #start = randomBytes(16);
  readonly #cipher = createCipheriv('aes-256-ctr', this.#key, this.#start);
  readonly #directory = plainly(() => mkdtempSync(join(tmpdir(), 'coffer-')));
  readonly #descriptor = this.#openNameless();

  write(bytes: Buffer): void {
    plainly(() => writeWhole(this.#descriptor, this.#cipher.update(bytes)));
  }

  read(print: (bytes: Uint8Array) => void): void {
    const decipher = createDecipheriv('aes-256-ctr', this.#key, this.#start);
    const chunk = Buffer.alloc(READ_BYTES);
    for (let position = 0; ; ) {
      const count = plainly(() => readSync(this.#descriptor, chunk, 0, chunk.length, position));
      if (count === 0) return;
      print(decipher.update(chunk.subarray(0, count)));
      position += count;
    }
  }

  close(): void {
    closeSync(this.#descriptor);
    wipe(this.#key);
    this.#remove();
  }

  /** Opens a file that no longer has a name when this returns, if the system allows that for an open file. */
  #openNameless(): number {
    try {
      return plainly(() => openSync(join(this.#directory, 'held'), 'wx+', OWNER_ONLY));
    } finally {
      this.#remove();
    }
  }

  #remove(): void {
    attempt(() => rmSync(this.#directory, { recursive: true, force: true }));
  }
}

function plainly<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new CofferError(
      'unavailable',
      `cannot store the results in a temporary file: ${diskReason(error)}`,
      {
        hint: 'write the results to a file with --out',
        cause: error,
      },
    );
  }
}
