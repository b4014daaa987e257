import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { invalid } from '../ground/errors.ts';

/** What Node makes, one for all, of bytes that are no UTF-8. */
const REPLACEMENT = '\ufffd';

/**
 * Refuses arguments of which Node has replaced bytes: a signature over one such value would hold for every other.
 * @throws `invalid` naming the argument.
 * @see docs/decisions/0156
 */
export function refuseReplacedBytes(argv: readonly string[]): void {
  if (!argv.some((text) => text.includes(REPLACEMENT))) return;
  const typed = entriesOf('cmdline').slice(-argv.length);
  for (const [index, text] of argv.entries()) {
    if (text.includes(REPLACEMENT) && !isTyped(typed[index], text))
      throw invalid(`argument ${index + 1} is not UTF-8, so that its bytes are lost`, {
        hint: 'give it on standard input or in a file, or its base64 with --base64',
      });
  }
}

/** The same for a variable of the environment. @throws `invalid` */
export function refuseReplacedValue(name: string, value: string | undefined): void {
  if (value === undefined || !value.includes(REPLACEMENT)) return;
  const prefix = Buffer.from(`${name}=`);
  const entry = entriesOf('environ').find((bytes) => bytes.subarray(0, prefix.length).equals(prefix));
  if (isTyped(entry?.subarray(prefix.length), value)) return;
  throw invalid(`the value of ${name} is not UTF-8, so that its bytes are lost`);
}

/** Whether a text is just what was given: then the character was written as such. */
const isTyped = (bytes: Buffer | undefined, text: string): boolean =>
  bytes !== undefined && isUtf8(bytes) && bytes.toString() === text;

/** What the system knows of this process, byte for byte; nothing where there is no Linux to tell. */
function entriesOf(name: 'cmdline' | 'environ'): readonly Buffer[] {
  let block: Buffer;
  try {
    block = readFileSync(`/proc/self/${name}`);
  } catch {
    return [];
  }
  const entries: Buffer[] = [];
  for (let start = 0; start < block.length; ) {
    const end = block.indexOf(0, start);
    const stop = end === -1 ? block.length : end;
    entries.push(block.subarray(start, stop));
    start = stop + 1;
  }
  return entries;
}
