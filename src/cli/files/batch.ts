import { invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Operation, Runner } from '../../operations/declaration/operation.ts';
import { DONE, FAILED, NOT_VALID } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { Progress } from '../terminal/progress.ts';
import { ClosedPipe, chunksOf } from '../terminal/streams.ts';
import { type InFile, openInFile } from './in-file.ts';
import { announceStandardInput } from './input.ts';
import { type Item, jsonItems } from './json-items.ts';
import { type OutPlace, openOutFile, refuseSameFile } from './out-file.ts';

/** One call of the operation takes so much: little enough for constant memory and for one request to a server. */
const MAX_SLICE_ITEMS = 1000;
const MAX_SLICE_BYTES = 1 << 20;

export interface BatchRequest {
  readonly operation: Operation;
  /** The parameter that takes the items. */
  readonly param: string;
  /** Values that hold for all items. */
  readonly raw: Readonly<Record<string, unknown>>;
  /** A file, or `-` for standard input. */
  readonly from: string;
  /** `--out FILE`. */
  readonly to: OutPlace | undefined;
}

/** One item of the input: its value, or why it has none. */
type Element = { readonly value: object; readonly bytes: number } | { readonly error: string };

interface Tally {
  items: number;
  failed: number;
  notValid: number;
}

/**
 * Runs an operation on a stream of items, a slice at a time, and writes one JSON line for each, in order.
 * An item that fails, or is not JSON, gets a line `{"error":…}`; the others are done.
 * @returns the exit code: 1 when an item failed, else 5 when one is not valid.
 */
export async function runBatch(session: Session, request: BatchRequest): Promise<number> {
  const file = request.from === '-' ? undefined : openInFile(request.from, 'batch');
  refuseSameFile(file === undefined ? undefined : request.from, request.to?.path);
  if (file === undefined) announceStandardInput(session);
  const runner = await session.runner();
  const out = request.to === undefined ? undefined : openOutFile(request.to);
  const progress = new Progress(session, {
    bytes: file?.bytes,
    noun: 'items',
    besideOutput: request.to === undefined,
  });
  try {
    const write = (text: string): void => (out ?? session.streams.out).write(text);
    const tally = await runAll(session, runner, request, counted(session, file, progress), write, progress);
    await out?.commit();
    progress.end();
    if (tally.failed > 0) session.fail(`${tally.failed} of ${tally.items} items failed`);
    if (tally.failed > 0) return FAILED;
    return tally.notValid > 0 ? NOT_VALID : DONE;
  } catch (error) {
    // Who reads no further may still go by the exit code, and nobody has looked at the rest.
    if (error instanceof ClosedPipe && request.operation.cli?.holds !== undefined) return FAILED;
    throw error;
  } finally {
    progress.end();
    out?.abort();
    file?.close();
  }
}

async function* counted(
  session: Session,
  file: InFile | undefined,
  progress: Progress,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunksOf(file ?? session.streams.in)) {
    progress.bytesRead(chunk.length);
    yield chunk;
  }
}

async function runAll(
  session: Session,
  runner: Runner,
  request: BatchRequest,
  chunks: AsyncIterable<Buffer>,
  write: (text: string) => void,
  progress: Progress,
): Promise<Tally> {
  const tally: Tally = { items: 0, failed: 0, notValid: 0 };
  const said = new Set<string>();
  for await (const slice of slicesOf(jsonItems(chunks))) {
    const results = await runSlice(session, runner, request, slice, said);
    for (const result of results) count(tally, result, request.operation);
    write(results.map((result) => `${JSON.stringify(result)}\n`).join(''));
    progress.done(slice.length);
  }
  return tally;
}

function count(tally: Tally, result: unknown, operation: Operation): void {
  tally.items++;
  const failed = typeof result === 'object' && result !== null && 'error' in result;
  if (failed) tally.failed++;
  else if (operation.cli?.holds?.(result) === false) tally.notValid++;
}

async function* slicesOf(arrivals: AsyncIterable<readonly Item[]>): AsyncGenerator<readonly Element[]> {
  for await (const items of arrivals) yield* slices(items);
}

function* slices(items: readonly Item[]): Generator<readonly Element[]> {
  let slice: Element[] = [];
  let bytes = 0;
  for (const item of items) {
    const element = elementOf(item);
    const size = 'bytes' in element ? element.bytes : 0;
    if (slice.length === MAX_SLICE_ITEMS || (slice.length > 0 && bytes + size > MAX_SLICE_BYTES)) {
      yield slice;
      slice = [];
      bytes = 0;
    }
    slice.push(element);
    bytes += size;
  }
  if (slice.length > 0) yield slice;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function elementOf(item: Item): Element {
  if ('problem' in item) return { error: item.problem };
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(item.bytes));
  } catch {
    return { error: 'the item is not JSON' };
  }
  return isObject(value) ? { value, bytes: item.bytes.length } : { error: 'the item is not a JSON object' };
}

async function runSlice(
  session: Session,
  runner: Runner,
  { operation, param, raw }: BatchRequest,
  slice: readonly Element[],
  said: Set<string>,
): Promise<readonly unknown[]> {
  const values = slice.flatMap((element) => ('value' in element ? [element.value] : []));
  const results = values.length === 0 ? [] : await call();
  let next = 0;
  return slice.map((element) => ('error' in element ? { error: element.error } : results[next++]));

  async function call(): Promise<readonly unknown[]> {
    const outcome = await runner.run(operation, { ...raw, [param]: values });
    for (const warning of outcome.warnings ?? []) {
      if (!said.has(warning)) session.warn(warning);
      said.add(warning);
    }
    return resultsOf(outcome.data, values.length);
  }
}

function resultsOf(data: unknown, expected: number): readonly unknown[] {
  const results = (data as { readonly batch_results?: unknown } | undefined)?.batch_results;
  if (Array.isArray(results) && results.length === expected) return results;
  throw invalid('the answer does not have one result for each item');
}
