import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base64, binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

/**
 * Ctrl-C ends the producer of a pipe as well, so a signal and the end of the input arrive together. Loaded into the
 * command, this sends the signal as soon as the end was read, before anything is done about it, and writes down what the
 * directory holds at that moment. A process that signals itself has received the signal when the call returns. Nothing
 * takes the disk any time, so that only what the command does for the sake of signals comes before the file's name.
 */
const SIGNAL_AT_THE_END = `
  const fs = require('node:fs');
  const { read, readSync } = fs;
  const atTheEnd = (descriptor, bytes) => {
    if (descriptor !== 0 || bytes !== 0) return;
    fs.writeFileSync('seen.json', JSON.stringify(fs.readdirSync('.')));
    process.kill(process.pid, 'SIGINT');
  };
  fs.fsync = (_descriptor, done) => queueMicrotask(() => done(null));
  fs.readSync = (descriptor, ...rest) => {
    const bytes = readSync(descriptor, ...rest);
    atTheEnd(descriptor, bytes);
    return bytes;
  };
  fs.read = (descriptor, ...rest) => {
    const done = rest.pop();
    read(descriptor, ...rest, (error, bytes, buffer) => {
      atTheEnd(descriptor, bytes);
      done(error, bytes, buffer);
    });
  };`;

let place: Place;

beforeAll(async () => {
  place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
  await place.ok('init');
  await place.ok('transit keys create bar');
  writeFileSync(place.file('signal-at-the-end.cjs'), SIGNAL_AT_THE_END);
});
afterAll(() => removePlace(place));

describe('a signal that comes together with the end of the input', () => {
  it.each([
    ['a batch', ['transit', 'encrypt', 'bar', '--batch', '-'], `{"plaintext":"${base64('a')}"}\n`],
    ['an envelope', ['transit', 'envelope', 'encrypt', 'bar', '--in', '-'], Buffer.alloc(300_000)],
  ] as const)('wins: %s does not pass off what it has as whole', (_name, words, input) => {
    const command = ['--require', './signal-at-the-end.cjs', binary, ...words, '--out', 'cut-short'];
    const { status, signal } = spawnSync(process.execPath, command, {
      cwd: place.directory,
      env: place.environment(),
      input,
    });
    expect({ status, signal }).toEqual({ status: null, signal: 'SIGINT' });
    expect(JSON.parse(readFileSync(place.file('seen.json'), 'utf8'))).toContainEqual(
      expect.stringMatching(/^\.cut-short\..*\.tmp$/),
    );
    expect(readdirSync(place.directory).filter((entry) => entry.includes('cut-short'))).toEqual([]);
  });
});
