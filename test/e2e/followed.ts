import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Place } from './harness.ts';

/** Commands in quotation marks, as a hint names them. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/"coffer ([^"]+)"/g)].map(([, command]) => command ?? '');

/** The only command that a refusal names, of which one is `command`. */
export function named(refusal: string, command: string): string {
  expect(commandsIn(refusal)).toContain(command);
  return command;
}

/** Damages a file by one bit in its middle. */
export function flip(path: string): void {
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  writeFileSync(path, bytes);
}

/** Nothing is wrong any more, and the store is used. */
export async function allIsWell(place: Place): Promise<void> {
  expect((await place.run('doctor')).exitCode).toBe(0);
  await place.ok('transit keys create the-next');
}
