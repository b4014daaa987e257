import type { Lookahead } from '../lookahead.ts';
import type { ByteSink, ByteSource } from '../ports.ts';
import { damaged } from '../refusals.ts';
import { BEGIN, MAX_BLANK_BYTES } from './detect.ts';

/** Armored age file: strict PEM (RFC 7468) of one label, without headers. */

const END = '-----END AGE ENCRYPTED FILE-----';
const COLUMNS = 64;
const LINE_BYTES = 48;
/** Number of lines decoded at once. */
const LINES = 1024;
const MAX_LINE = 256;

/**
 * Decodes armored text.
 * @throws `inauthentic` if it is truncated or malformed
 */
export function dearmored(text: Lookahead): ByteSource {
  let isBegun = false;
  let isEnded = false;
  let isLastLine = false;
  let ready: Buffer = Buffer.alloc(0);
  const line = async (): Promise<string> => {
    const found = (await text.line(MAX_LINE)) ?? (await lastLine(text));
    return found.endsWith('\r') ? found.slice(0, -1) : found;
  };
  const begin = async (): Promise<void> => {
    let first = await line();
    for (
      let blank = first.length;
      first.trim() === '' && blank < MAX_BLANK_BYTES;
      blank += first.length + 1
    ) {
      first = await line();
    }
    if (first.trimStart() !== BEGIN) throw broken();
    isBegun = true;
  };
  const more = async (): Promise<Buffer> => {
    const parts: string[] = [];
    while (parts.length < LINES && !isEnded) {
      const next = await line();
      if (next.trimEnd() === END) {
        isEnded = true;
        await requireBlank(text);
        break;
      }
      if (isLastLine || next.length > COLUMNS || next === '') throw broken();
      isLastLine = next.length < COLUMNS || next.endsWith('=');
      parts.push(next);
    }
    const joined = parts.join('');
    const bytes = Buffer.from(joined, 'base64');
    if (bytes.toString('base64') !== joined) throw broken();
    return bytes;
  };
  return {
    mayStall: text.mayStall,
    expectedBytes: text.expectedBytes,
    async read(into) {
      if (!isBegun) await begin();
      while (ready.length === 0) {
        if (isEnded) return 0;
        ready = await more();
      }
      const bytes = Math.min(into.length, ready.length);
      into.set(ready.subarray(0, bytes));
      ready = ready.subarray(bytes);
      return bytes;
    },
  };
}

/** Reads a last line without a newline. */
async function lastLine(text: Lookahead): Promise<string> {
  const rest = await text.peek(MAX_LINE + 1);
  if (rest.length === 0 || rest.length > MAX_LINE) throw broken();
  const line = rest.toString('latin1');
  await text.read(Buffer.alloc(line.length));
  return line;
}

async function requireBlank(text: Lookahead): Promise<void> {
  const rest = await text.peek(MAX_BLANK_BYTES);
  if (rest.length === MAX_BLANK_BYTES || rest.toString('latin1').trim() !== '') throw broken();
}

const broken = () => damaged('its ASCII armor is truncated or malformed');

/** Encodes bytes as armored text. `end` must be called after the last of them. */
export function armored(sink: ByteSink): ByteSink & { end(): Promise<void> } {
  let isBegun = false;
  let held: Buffer = Buffer.alloc(0);
  const print = async (bytes: Uint8Array): Promise<void> => {
    const text = Buffer.from(bytes).toString('base64');
    const start = isBegun ? '' : `${BEGIN}\n`;
    isBegun = true;
    await sink.write(Buffer.from(start + text.replace(/.{1,64}/g, '$&\n'), 'latin1'));
  };
  return {
    async write(bytes) {
      const all = Buffer.concat([held, bytes]);
      const whole = all.length - (all.length % LINE_BYTES);
      await print(all.subarray(0, whole));
      held = all.subarray(whole);
    },
    async end() {
      if (held.length > 0) await print(held);
      await sink.write(Buffer.from(`${END}\n`, 'latin1'));
    },
  };
}
