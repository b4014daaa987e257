import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { invalid } from '../ground/errors.ts';

/** Character with which Node replaces bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/**
 * Refuses arguments in which Node has replaced bytes: a signature over one such value would be valid for all others.
 * @throws `invalid` naming the argument
 * @see docs/decisions/0156
 */
export function refuseReplacedBytes(argv: readonly string[]): void {
  if (!argv.some((text) => text.includes(REPLACEMENT))) return;
  const typed = entriesOf('cmdline').slice(-argv.length);
  for (const [index, text] of argv.entries()) {
    if (text.includes(REPLACEMENT) && !isTyped(typed[index], text))
      throw invalid(`argument ${index + 1} is not valid UTF-8`, {
        hint: 'pass it on standard input or in a file, or as base64 with --base64',
      });
  }
}

/**
 * Refuses an environment variable in which Node has replaced bytes.
 * @throws `invalid` naming the variable
 */
export function refuseReplacedValue(name: string, value: string | undefined): void {
  if (value === undefined || !value.includes(REPLACEMENT)) return;
  const prefix = Buffer.from(`${name}=`);
  const entry = entriesOf('environ').find((bytes) => bytes.subarray(0, prefix.length).equals(prefix));
  if (isTyped(entry?.subarray(prefix.length), value)) return;
  throw invalid(`the value of ${name} is not valid UTF-8`);
}

/** Whether a text was given exactly like this: then it really contains the replacement character. */
const isTyped = (bytes: Buffer | undefined, text: string): boolean =>
  bytes !== undefined && isUtf8(bytes) && bytes.toString() === text;

/** Returns the arguments or variables of this process as bytes; empty on systems other than Linux. */
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
