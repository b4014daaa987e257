import { refusedAs } from '../../ground/errors.ts';
import type { FileFormatName } from '../../secret-files/format.ts';
import { sidesOf } from '../../secret-files/three-way.ts';
import { formatValue, valuesIn } from '../../secret-files/value.ts';
import { type Command, taking } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { readFileWhole } from '../files/in-file.ts';
import { MAX_INPUT_BYTES } from '../files/input.ts';
import { textOption } from '../given.ts';
import { formatFor, textOf } from '../secret-files/secret-file.ts';
import { openValues } from '../secret-files/values.ts';
import type { Session } from '../session.ts';

/** Maximum number of keys in a file. Each is one request while git waits; a file with more is shown as it is. */
const MOST_KEYS = 100;

/** Command that git runs to show a file in a diff. */
export const command: Command = {
  arguments: [{ metavar: 'FILE', help: 'File to show.', required: true, offers: 'file' }],
  options: [taking('format', 'FORMAT', 'File format, if the file name does not show it.')],
  examples: [],
  /** Prints nothing else, asks nothing and never fails: a failure would make git abort the whole diff. */
  async run(asked, { arguments: [path = ''], options }) {
    const bytes = readFileWhole(path, 'FILE', MAX_INPUT_BYTES);
    const session = asked.quietly();
    const format = textOption(options, 'format') as FileFormatName | undefined;
    const text = await decrypted(session, path, bytes, format).catch(refusedAs(undefined));
    session.streams.out.write(text ?? bytes);
    await session.close();
    return DONE;
  },
};

/** Returns the text with every value decrypted that can be; for a file with conflicts, the values of both sides. */
async function decrypted(
  session: Session,
  path: string,
  bytes: Buffer,
  format: FileFormatName | undefined,
): Promise<string> {
  const text = textOf(path, bytes);
  const reader = await formatFor(path, format);
  const sealed = [...new Set(sidesOf(text))].flatMap((side) =>
    reader
      .parse(side, path)
      .places.flatMap(({ name, sealed: value }) =>
        value === undefined ? [] : [{ name, value, where: path }],
      ),
  );
  if (
    sealed.length === 0 ||
    new Set(sealed.map(({ value }) => `${value.mount}/${value.key}`)).size > MOST_KEYS
  )
    return text;
  const results = await openValues(session, sealed);
  // No two ciphertexts are equal.
  const sources = new Map<string, string>();
  for (const [index, { value }] of sealed.entries()) {
    const source = results[index];
    if (typeof source === 'string') sources.set(formatValue(value), source);
  }
  return shown(text, sources);
}

/** Returns the text with plaintexts in place of ciphertexts, in one pass. */
function shown(text: string, sources: ReadonlyMap<string, string>): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, value } of valuesIn(text)) {
    const source = sources.get(formatValue(value));
    if (source === undefined) continue;
    // Quotes around a ciphertext are not those of the value, which are part of the encrypted text.
    const quote = text[start - 1] ?? '';
    const isQuoted = start > at && (quote === '"' || quote === "'") && text[end] === quote;
    parts.push(text.slice(at, isQuoted ? start - 1 : start), source);
    at = isQuoted ? end + 1 : end;
  }
  return parts.join('') + text.slice(at);
}
