import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isLong, isSlow } from '../long.ts';
import { binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { server } from './server.ts';
import { canUseTerminals, hurried, onTerminal } from './terminal.ts';

const MEBI = 2 ** 20;
const GIBI = 2 ** 30;
const CHUNK = 65_536;
const MAX_MEMORY_BYTES = 150 * MEBI;

let here: Place;

beforeAll(async () => {
  here = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
  await here.ok('init');
  await here.ok('transit keys create backups');
  // Loaded into every process under test: writes what the system has counted of it when it ends.
  writeFileSync(
    here.file('counters.cjs'),
    `const { appendFileSync, readFileSync } = require('node:fs');
     const counted = require('node:process');
     counted.on('exit', () => appendFileSync(process.env.COUNTERS, JSON.stringify({
       peakBytes: counted.resourceUsage().maxRSS * 1024,
       io: readFileSync('/proc/self/io', 'utf8'),
     }) + '\\n'));`,
  );
});
afterAll(() => removePlace(here));

interface Counters {
  readonly peakBytes: number;
  readonly io: string;
}

/** Runs a script and tells what was counted of each `coffer` in it. */
async function counted(
  script: string,
): Promise<{ readonly stdout: string; readonly counters: readonly Counters[] }> {
  const name = `counters-${randomBytes(4).toString('hex')}`;
  const environment = { NODE_OPTIONS: `--require ${here.file('counters.cjs')}`, COUNTERS: here.file(name) };
  const { exitCode, stdout, stderr } = await here.shell(script, { environment });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const lines = readFileSync(here.file(name), 'utf8').trim().split('\n');
  return { stdout, counters: lines.map((line) => JSON.parse(line) as Counters) };
}

const ioOf = ({ io }: Counters, what: 'rchar' | 'wchar'): number =>
  Number(new RegExp(`^${what}: (\\d+)$`, 'm').exec(io)?.[1]);

describe('memory', () => {
  /** More than what the processes may hold. */
  const usual = (isLong ? 256 : 160) * MEBI;
  const sizes = isSlow ? [usual, 8 * GIBI] : [usual];

  it.each(sizes)('stays below 150 MiB for a stream of %i bytes', async (size) => {
    const { stdout, counters } = await counted(
      `head -c ${size} /dev/zero | coffer transit envelope encrypt backups | coffer transit envelope decrypt | wc -c`,
    );
    expect(Number(stdout)).toBe(size);
    expect(counters).toHaveLength(2);
    for (const { peakBytes } of counters) expect(peakBytes).toBeLessThan(MAX_MEMORY_BYTES);
  });

  it('stays below 150 MiB for files', async () => {
    writeFileSync(here.file('zeros'), '');
    truncateSync(here.file('zeros'), usual);
    const { counters } = await counted(
      `coffer transit envelope encrypt backups --in zeros --out zeros.coffer
       coffer transit envelope decrypt --in zeros.coffer --out zeros.again
       cmp zeros zeros.again
       rm zeros zeros.coffer zeros.again`,
    );
    expect(counters).toHaveLength(2);
    for (const { peakBytes } of counters) expect(peakBytes).toBeLessThan(MAX_MEMORY_BYTES);
  });
});

describe('a rewrap', () => {
  it('of a file of 4 GiB reads and writes as little as that of an empty one', async () => {
    writeFileSync(here.file('nothing'), '');
    await here.ok('transit envelope encrypt backups --in nothing --out small.coffer');
    // Only the header matters to a rewrap, so the rest may be a hole.
    copyFileSync(here.file('small.coffer'), here.file('large.coffer'));
    truncateSync(here.file('large.coffer'), 4 * GIBI);
    const rewrap = async (name: string) =>
      (await counted(`coffer transit envelope rewrap --in ${name}`)).counters[0];
    // The first one may still compile what the others find compiled.
    await rewrap('small.coffer');
    const [small, large] = [await rewrap('small.coffer'), await rewrap('large.coffer')];
    if (small === undefined || large === undefined) throw new Error('nothing was counted');
    expect(Math.abs(ioOf(large, 'rchar') - ioOf(small, 'rchar'))).toBeLessThan(16 * 1024);
    expect(ioOf(large, 'wchar')).toBeLessThan(4096);
    expect(statSync(here.file('large.coffer')).size).toBe(4 * GIBI);
    expect(await here.json('transit envelope header --in small.coffer')).toMatchObject({ verified: false });
  });
});

describe.skipIf(availableParallelism() < 2)('a file that two threads take', () => {
  const LARGE = 160 * MEBI;

  it('comes back as it was, and a changed chunk is told', async () => {
    writeFileSync(
      here.file('threads.cjs'),
      `const { appendFileSync } = require('node:fs');
       process.addListener('worker', (thread) => thread.once('exit', (code) => appendFileSync(process.env.THREADS, code + ';')));`,
    );
    const environment = {
      NODE_OPTIONS: `--require ${here.file('threads.cjs')}`,
      THREADS: here.file('threads'),
    };
    // Every chunk another one, as cheaply as it goes.
    const plaintext = Buffer.alloc(LARGE);
    for (let at = 0; at < LARGE; at += CHUNK) plaintext.writeUInt32BE(at, at);
    writeFileSync(here.file('wide'), plaintext);
    const run = (...words: string[]) => here.spawned.run(['transit', 'envelope', ...words], { environment });
    expect(
      await run('encrypt', 'backups', '--in', 'wide', '--out', 'wide.coffer', '-o', 'json'),
    ).toMatchObject({
      exitCode: 0,
    });
    const told = await run('decrypt', '--in', 'wide.coffer', '--out', 'wide.again', '-o', 'json');
    expect(JSON.parse(told.stdout)).toMatchObject({
      files: [{ bytes_read: statSync(here.file('wide.coffer')).size, bytes_written: LARGE }],
    });
    expect(readFileSync(here.file('wide.again')).equals(plaintext)).toBe(true);
    expect(readFileSync(here.file('threads'), 'utf8')).toBe('0;0;');
    const sealed = readFileSync(here.file('wide.coffer'));
    const at = LARGE / 2;
    sealed.writeUInt8(sealed.readUInt8(at) ^ 1, at);
    writeFileSync(here.file('wide.coffer'), sealed);
    const refused = await run('decrypt', '--in', 'wide.coffer', '--out', 'wide.broken');
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toMatch(/the envelope is damaged: chunk 12\d\d was changed/);
    expect(existsSync(here.file('wide.broken'))).toBe(false);
  });

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'that %s ends leaves at most what is not finished',
    async (signal) => {
      // Of a length that takes minutes, so that the command is in the midst of it whenever the signal comes.
      writeFileSync(here.file('sparse'), '');
      truncateSync(here.file('sparse'), 1024 * GIBI);
      const child = start(here, 'encrypt', 'backups', '--in', 'sparse', '--out', 'stopped');
      const unfinished = () => readdirSync(here.directory).filter((name) => name.includes('stopped'));
      const hasBegun = () => unfinished().some((name) => statSync(here.file(name)).size > 4 * MEBI);
      await vi.waitUntil(hasBegun, { timeout: 20_000, interval: 10 });
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([null, signal]);
      expect(unfinished().length).toBe(signal === 'SIGKILL' ? 1 : 0);
      for (const name of unfinished()) {
        expect(name).toMatch(/^\.stopped\./);
        rmSync(here.file(name));
      }
    },
  );
});

/** Starts an envelope command and goes on. */
function start(place: Place, ...words: string[]) {
  const child = spawn(process.execPath, [binary, 'transit', 'envelope', ...words], {
    cwd: place.directory,
    env: place.environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // It may end before it has read everything.
  child.stdin.on('error', () => {});
  return child;
}

describe('with the key on a server', () => {
  it('only the data key travels, whatever the size of the data', async () => {
    const running = await server.start();
    await running.place.ok('transit keys create backups');
    const wire = await countingProxy(running.place.environment()['COFFER_ADDR'] ?? '');
    const place = running.place.with({ COFFER_ADDR: wire.address });
    try {
      const plaintext = randomBytes(20 * MEBI);
      const encrypting = start(place, 'encrypt', 'backups');
      encrypting.stdin.end(plaintext);
      const envelope = await collected(encrypting.stdout);
      const decrypting = start(place, 'decrypt');
      decrypting.stdin.end(envelope);
      expect((await collected(decrypting.stdout)).equals(plaintext)).toBe(true);
      expect(wire.bytes()).toBeGreaterThan(0);
      expect(wire.bytes()).toBeLessThan(8192);
    } finally {
      wire.close();
      await running.stop();
    }
  });
});

describe('a process', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('that %s ends leaves nothing behind', async (signal) => {
    const child = start(here, 'encrypt', 'backups', '--out', 'unfinished');
    child.stdin.write(randomBytes(3 * MEBI));
    const hasBegun = () => readdirSync(here.directory).some((name) => name.startsWith('.unfinished'));
    await vi.waitUntil(hasBegun, { timeout: 20_000, interval: 10 });
    child.kill(signal);
    const [, killedBy] = await once(child, 'exit');
    expect(killedBy).toBe(signal);
    expect(readdirSync(here.directory).filter((name) => name.includes('unfinished'))).toEqual([]);
  });

  it('ends at the first damaged chunk, although the pipe stays open', async () => {
    const plaintext = randomBytes(3 * CHUNK);
    const envelope = (await here.run('transit envelope encrypt backups', { input: plaintext })).bytes;
    const damaged = Buffer.from(envelope);
    const place = envelope.length - 2 * (CHUNK + 16) + 5;
    damaged.writeUInt8(damaged.readUInt8(place) ^ 1, place);
    const child = start(here, 'decrypt');
    const [stdout, stderr] = [collected(child.stdout), collected(child.stderr)];
    child.stdin.write(damaged);
    const [exitCode] = await once(child, 'close');
    expect(exitCode).toBe(4);
    expect((await stderr).toString()).toContain('the envelope is damaged: chunk 1 was changed');
    expect((await stdout).equals(plaintext.subarray(0, CHUNK))).toBe(true);
  });

  it('ends quietly when nobody reads its result any more', async () => {
    const { exitCode, stdout, stderr } = await here.shell(
      'set +o pipefail; head -c 20000000 /dev/zero | coffer transit envelope encrypt backups | head -c 6 | tail -c 5',
    );
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: 'COFFE', stderr: '' });
  });
});

describe.skipIf(!canUseTerminals)('on a terminal', () => {
  it('progress shows bytes, rate and time left, and is gone at the end', () => {
    writeFileSync(here.file('large'), '');
    truncateSync(here.file('large'), GIBI / 16);
    const line = 'coffer transit envelope encrypt backups --in large > sealed';
    const { screen, text, exitCode } = onTerminal(here, line, { environment: hurried });
    expect(exitCode).toBe(0);
    expect(text).toMatch(/\[#*-*\] +\d+ % {2}[\d.]+ [KMG]iB of 64\.0 MiB {2}[\d.]+ [KMG]iB\/s {2}\d+ s left/);
    // The result has gone to standard output, where a program reads it: nothing more is said.
    expect(text).not.toContain('Encrypted');
    expect(screen.lastIndexOf('\u001b[K')).toBeGreaterThan(screen.lastIndexOf('left'));
  });

  it('nothing is drawn when nobody watches, with --quiet, or over the data', async () => {
    writeFileSync(here.file('text'), 'in plain sight\n');
    await here.ok('transit envelope encrypt backups --in text --out text.coffer');
    const quiet = onTerminal(
      here,
      'coffer transit envelope decrypt --in text.coffer --out text.again --quiet',
    );
    expect(quiet.text).toBe('');
    const shown = onTerminal(here, 'coffer transit envelope decrypt --in text.coffer');
    expect(shown.text).toContain('in plain sight\n');
    expect(shown.text).not.toContain('left');
  });

  it('text is shown, other data are not', async () => {
    writeFileSync(here.file('noise'), Buffer.from('harmless\u001b[2J'));
    await here.ok('transit envelope encrypt backups --in noise --out noise.coffer');
    const { text, exitCode } = onTerminal(here, 'coffer transit envelope decrypt --in noise.coffer');
    expect(exitCode).toBe(2);
    expect(text).toContain('refusing to write binary data to a terminal');
    expect(text).not.toContain('harmless');
  });

  it('an envelope of a file goes beside it, and one of standard input is not shown', async () => {
    writeFileSync(here.file('fresh'), 'fresh');
    const beside = onTerminal(here, 'coffer transit envelope encrypt backups --in fresh');
    expect(beside.exitCode).toBe(0);
    expect(beside.text).toContain('Encrypted fresh');
    expect(await here.ok('transit envelope decrypt --in fresh.coffer')).toBe('fresh');
    const piped = onTerminal(here, 'cat fresh | coffer transit envelope encrypt backups');
    expect(piped.exitCode).toBe(2);
    expect(piped.text).toContain('refusing to write binary data to a terminal');
  });
});

it('an output file that cannot be made is refused before anything is asked of the key', async () => {
  writeFileSync(here.file('some'), 'some');
  expect(await here.refused('transit envelope encrypt backups --in some --out missing/x', 2)).toContain(
    'no such directory',
  );
  expect(existsSync(here.file('missing'))).toBe(false);
});

async function collected(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** Stands between commands and a server, and counts the bytes that go through, both ways together. */
async function countingProxy(target: string) {
  const { hostname, port } = new URL(target);
  let bytes = 0;
  const listener = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => to.destroy());
      from.on('data', (piece) => {
        bytes += piece.length;
      });
      from.pipe(to);
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return { address, bytes: () => bytes, close: () => void listener.close() };
}
