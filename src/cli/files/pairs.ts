import { attempt, invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Session } from '../session.ts';
import { readAtFile } from './in-file.ts';
import { inputText, MAX_INPUT_BYTES, readStandardInput } from './input.ts';

/* Parameters in the syntax of Vault's commands. */

export const PAIR = 'KEY=VALUE';

/**
 * Parses one argument: `KEY=VALUE`, or an object from a file or standard input.
 * @throws `invalid` for anything else
 */
export function parametersOf(session: Session, text: string): readonly (readonly [string, unknown])[] {
  if (text === '-' || text.startsWith('@')) return Object.entries(objectIn(textOf(session, text)));
  const [key, value] = pairOf(text);
  return [[key, textOf(session, value)]];
}

/**
 * Splits `KEY=VALUE`, with the value as typed.
 * @throws `invalid` for anything else
 */
export function pairOf(text: string): readonly [key: string, value: string] {
  const mark = text.indexOf('=');
  if (mark < 1) {
    throw invalid(`${JSON.stringify(text)} is not KEY=VALUE`, {
      field: PAIR,
      hint: 'use KEY=VALUE, KEY=@FILE, KEY=-, @FILE or -',
    });
  }
  return [text.slice(0, mark), text.slice(mark + 1)];
}

/** Whether a value names the source that it is read from. */
export const isElsewhere = (value: string): boolean => value === '-' || value.startsWith('@');

/** Returns a value itself, or reads it from standard input (`-`) or a file (`@FILE`). */
export function textOf(session: Session, value: string): string {
  if (!isElsewhere(value)) return value;
  const bytes = value === '-' ? readStandardInput(session) : readAtFile(value, PAIR, MAX_INPUT_BYTES);
  return inputText(bytes, PAIR);
}

function objectIn(text: string): object {
  const value: unknown = attempt(() => JSON.parse(text));
  if (isObject(value)) return value;
  throw invalid('the input is not a JSON object', { field: PAIR, hint: 'use {"key": "value", …}' });
}
