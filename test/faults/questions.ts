import type { Sandbox } from './sandbox.ts';

/** How often a reader asks everything. */
export const READINGS = 3;

/** Command lines that only read, one for each part of the store. */
export const questionsOf = (box: Sandbox, ciphertext: string): readonly (readonly string[])[] => [
  ['transit', 'keys', 'list'],
  ['transit', 'keys', 'read', 'orders'],
  ['tags', 'list'],
  ['tags', 'of', 'alpha'],
  ['slots', 'list'],
  ['token', 'list'],
  ['status', '-o', 'json'],
  ['doctor'],
  ['transit', 'encrypt', 'letters', 'x', '--key-version', '1', '--out', '/dev/null'],
  ['transit', 'decrypt', 'letters', ciphertext],
  ['transit', 'envelope', 'decrypt', 'letters', '--in', box.at('envelope')],
];
