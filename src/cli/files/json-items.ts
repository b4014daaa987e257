/**
 * Splits a stream of JSON into its items in bounded memory. The stream has either one value per line (blank lines are
 * skipped) or is one array, which the first character shows. Items are split, not validated: an item that is not JSON
 * fails alone when it is parsed.
 */

/** Bytes of one item, or the reason why there are none. */
export type JsonItem = { readonly bytes: Buffer } | { readonly problem: string };

/** Maximum size of an item, in bytes; a larger one could not be sent to a server either. */
export const MAX_ITEM_BYTES = 32 * 2 ** 20;

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
const ARRAY_START = 0x5b;
const WHITE = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** Byte order mark that some editors write at the start. */
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Splits chunks into items.
 * @returns items that each chunk completes, so that a slow writer gets answers at once
 */
export async function* jsonItems(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly JsonItem[]> {
  let cutter: Cutter | undefined;
  let head = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (cutter !== undefined) {
      yield [...cutter.push(chunk)];
      continue;
    }
    head = withoutLeadingSpace(Buffer.concat([head, chunk]));
    if (head.length < MARK.length) continue;
    cutter = cutterFor(head);
    yield [...cutter.push(head)];
  }
  if (cutter === undefined) {
    cutter = cutterFor(head);
    yield [...cutter.push(head)];
  }
  yield [...cutter.end()];
}

const cutterFor = (head: Buffer): Cutter => (head[0] === ARRAY_START ? new ArrayCutter() : new LineCutter());

function withoutLeadingSpace(head: Buffer): Buffer<ArrayBuffer> {
  let start = head.subarray(0, MARK.length).equals(MARK) ? MARK.length : 0;
  while (start < head.length && WHITE.has(head[start] ?? 0)) start++;
  return Buffer.from(head.subarray(start));
}

interface Cutter {
  push(chunk: Buffer): Iterable<JsonItem>;
  end(): Iterable<JsonItem>;
}

/** Part received so far of an incomplete item. */
class Pending {
  readonly #most: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#most) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  get isBlank(): boolean {
    return this.#bytes <= this.#most && this.#parts.every((part) => part.every((byte) => WHITE.has(byte)));
  }

  take(): JsonItem {
    const item =
      this.#bytes > this.#most
        ? { problem: `the item is larger than ${this.#most / 2 ** 20} MiB` }
        : { bytes: Buffer.concat(this.#parts) };
    this.#parts = [];
    this.#bytes = 0;
    return item;
  }
}

/** Splits lines, without blank ones. */
export class LineCutter implements Cutter {
  readonly #pending: Pending;

  /** @param most maximum size of a line, in bytes */
  constructor(most = MAX_ITEM_BYTES) {
    this.#pending = new Pending(most);
  }

  *push(chunk: Buffer): Iterable<JsonItem> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#pending.add(chunk.subarray(start, end));
      yield* this.end();
      start = end + 1;
    }
    this.#pending.add(chunk.subarray(start));
  }

  *end(): Iterable<JsonItem> {
    const blank = this.#pending.isBlank;
    const item = this.#pending.take();
    if (!blank) yield item;
  }
}

class ArrayCutter implements Cutter {
  readonly #pending = new Pending(MAX_ITEM_BYTES);
  #depth = 0;
  #inString = false;
  #escaped = false;
  #items = 0;
  #trailing = false;
  #ended = false;

  *push(chunk: Buffer): Iterable<JsonItem> {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (this.#ended) {
        this.#trailing ||= !WHITE.has(byte);
      } else if (this.#inString) {
        this.#insideString(byte);
      } else if (byte === QUOTE) {
        this.#inString = true;
      } else if (OPENING.has(byte)) {
        if (++this.#depth === 1) start = at + 1;
      } else if (CLOSING.has(byte)) {
        if (--this.#depth === 0) {
          this.#pending.add(chunk.subarray(start, at));
          yield* this.#last();
        }
      } else if (byte === COMMA && this.#depth === 1) {
        this.#pending.add(chunk.subarray(start, at));
        start = at + 1;
        this.#items++;
        yield this.#pending.take();
      }
    }
    if (!this.#ended && this.#depth > 0) this.#pending.add(chunk.subarray(start));
  }

  *end(): Iterable<JsonItem> {
    if (this.#trailing) yield { problem: 'unexpected data after the JSON array' };
    if (this.#ended) return;
    yield* this.#last();
    yield { problem: 'the JSON array is truncated' };
  }

  #insideString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#inString = false;
  }

  /** Returns the item before the closing bracket; `[]` has none. */
  *#last(): Iterable<JsonItem> {
    this.#ended = true;
    const none = this.#items === 0 && this.#pending.isBlank;
    const item = this.#pending.take();
    if (!none) yield item;
  }
}
