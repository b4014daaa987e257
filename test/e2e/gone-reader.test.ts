import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { intoDocuments } from '../store/temporary-store.ts';
import { base64, binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

let place: Place;
let signature = '';

beforeAll(async () => {
  place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
  await place.ok('init');
  await place.ok('transit keys create signing --type ed25519');
  signature = await place.ok('transit sign signing hello');
});
afterAll(() => removePlace(place));

/** Runs the command while nobody reads one of its streams. @returns its exit code, and what it wrote to the other one. */
async function unread(stream: 'stdout' | 'stderr', line: string, input = '') {
  // It begins when it is given a line, so that the reader has gone by then.
  const words = ['-c', 'read -r _ && exec "$@"', 'sh', process.execPath, binary, ...line.split(' ')];
  const command = spawn('sh', words, { cwd: place.directory, env: place.environment() });
  command[stream].destroy();
  await once(command[stream], 'close');
  const other = stream === 'stdout' ? command.stderr : command.stdout;
  let text = '';
  other.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  command.stdin.end(`\n${input}`);
  const [exitCode] = (await once(command, 'close')) as [number | null];
  return { exitCode, text };
}

describe('whoever goes by the exit code alone, and reads nothing', () => {
  it.each([
    ['valid', 'hello', 0],
    ['not valid', 'other', 5],
  ])('is told that a signature is %s', async (_, value, exitCode) => {
    const line = `transit verify signing ${value} --signature ${signature}`;
    expect(await unread('stdout', line)).toEqual({ exitCode, text: '' });
  });

  it('is not told that all of a batch are valid', async () => {
    const items = ['hello', 'other'].map((value) => JSON.stringify({ input: base64(value), signature }));
    const { exitCode, text } = await unread('stdout', 'transit verify signing --batch -', items.join('\n'));
    expect({ exitCode, text }).toEqual({ exitCode: 1, text: '' });
  });

  it('is told that a store is damaged', async () => {
    const damaged = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
    try {
      await damaged.ok('init');
      await damaged.ok('transit keys create orders');
      await intoDocuments(damaged.file('store'));
      const documents = damaged.file('store/generation-1/documents');
      for (const name of readdirSync(documents)) truncateSync(join(documents, name));
      const line = `doctor --store ${damaged.file('store')}`;
      expect(await unread('stdout', line)).toMatchObject({ exitCode: 1 });
    } finally {
      removePlace(damaged);
    }
  });

  it('has no slot that opens with a key or share which nobody has read', async () => {
    const slots = await place.ok('slots list -o json');
    for (const line of ['slots add --raw', 'slots add --raw -o json', 'slots add --shares 2 --threshold 2']) {
      const { exitCode, text } = await unread('stdout', line);
      expect(exitCode).toBe(1);
      expect(text).toBe(
        'coffer: standard output was closed before the secret was written; nothing was created (check where standard output goes and retry)\n',
      );
    }
    expect(await place.ok('slots list -o json')).toBe(slots);
  });

  it('has no store that opens with a key or share which nobody has read', async () => {
    for (const way of ['--raw', '--raw -o json', '--shares 2 --threshold 2']) {
      const directory = place.file('unread');
      const { exitCode, text } = await unread('stdout', `init ${way} --store ${directory}`);
      expect({ exitCode, text }).toEqual({
        exitCode: 1,
        text: expect.stringContaining('nothing was created'),
      });
      expect(existsSync(directory)).toBe(false);
    }
  });

  it('has no token which nobody has read', async () => {
    const tokens = await place.ok('token list -o json');
    for (const form of ['', ' -o json']) {
      const { exitCode, text } = await unread('stdout', `token create --ttl 1h${form}`);
      expect({ exitCode, text }).toEqual({
        exitCode: 1,
        text: 'coffer: standard output was closed before the result was written; the token was revoked (create another one)\n',
      });
    }
    expect(await place.ok('token list -o json')).toBe(tokens);
    const { text } = await unread('stdout', 'token create --ttl 1h --type batch --policy default');
    expect(text).toBe(
      'coffer: standard output was closed before the result was written; the batch token cannot be revoked, and stays valid until it expires (create another one)\n',
    );
  });

  it('is not invited to rotate again when the answer finds no room', async () => {
    await place.ok('transit keys create turning');
    const full = await place.shell('coffer transit keys rotate turning -o json > /dev/full');
    expect(full).toMatchObject({
      exitCode: 7,
      stderr: expect.stringMatching(
        /^coffer: the operation succeeded, but cannot write: no space left on device \(do not run the command again/,
      ),
    });
    expect(JSON.parse(await place.ok('transit keys read turning -o json')).latest_version).toBe(2);
  });
});

describe('a command whose messages nobody reads', () => {
  it('does its work all the same', async () => {
    const { exitCode, text } = await unread('stderr', 'slots add --raw');
    expect(exitCode).toBe(0);
    expect(Buffer.from(text, 'base64')).toHaveLength(32);
  });

  it('fails when its work fails', async () => {
    const input = '{"input":"aGVsbG8=","signature":"nonsense"}';
    const { exitCode, text } = await unread('stderr', 'transit verify signing --batch -', input);
    expect(exitCode).toBe(1);
    expect(text).toContain('"error"');
    expect(await unread('stderr', 'transit keys read nobody')).toEqual({ exitCode: 3, text: '' });
  });
});
