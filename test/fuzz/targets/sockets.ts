import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemRandom } from '../../../src/ground/random.ts';

import { FilesBackend } from '../../../src/store/backends/files/files-backend.ts';
import { builtCommand } from '../../built.ts';
import type { Chance } from '../../chance.ts';
import { startServerProcess } from '../../servers/server-process.ts';
import { runHere } from '../command-here.ts';
import { shorterBytes, spoiledBytes } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { contentOf } from '../store-content.ts';
import { Defect, target, type World } from '../target.ts';

/** What is sent on one connection. */
interface Sending {
  readonly packets: readonly Buffer[];
  /** `half`: our side is closed, and what comes is read; `reset`: hung up without a word; `wait`: the server closes. */
  readonly end: 'half' | 'reset' | 'wait';
}

const SECRET = 'Vx7qPm2kZt9wRb4nYc6hJd1s';
/** A server that has not closed a connection for so long will never do it. */
const HANG_MS = 100_000;
/** Looking whether the server is well costs a request or two. */
const LOOK_EVERY = 25;
const MAX_SERVER_MEBIBYTES = 512;

async function open(_chance: Chance, secrets: Secrets): Promise<World<Sending>> {
  const place = mkdtempSync(join(tmpdir(), 'coffer-fuzz-socket-'));
  const key = systemRandom.bytes(32);
  const store = join(place, 'store');
  const environment = { HOME: place, COFFER_STORE: store, COFFER_MASTER_KEY: key.toString('base64') };
  const here = async (line: string, input = ''): Promise<string> => runHere(line, environment, input);
  await here('init');
  await here('transit keys create orders');
  await here('policy write app', 'path "transit/*" { capabilities = ["update", "read", "list"] }');
  const token = (await here('token create --policy app')).trim();
  const ciphertext = (await here('transit encrypt orders --no-create', SECRET)).trim();
  secrets.add('the master key', key);
  secrets.add('the plaintext', SECRET);
  secrets.add('the token', token);
  const server = await startServerProcess(
    [builtCommand(), 'serve', '--listen', '127.0.0.1:0', '--audit-log', join(place, 'audit')],
    { environment },
  );
  const port = Number(new URL(server.address).port);
  const before = await contentOf(new FilesBackend(store));
  const samples = samplesFor(ciphertext);
  let checked = 0;
  return {
    generate: (chance) => generate(chance, samples, token),
    async check(sending) {
      const answers = await exchange(port, sending);
      for (const [, status = ''] of answers.matchAll(/^HTTP\/1\.1 (\d{3})/gm)) {
        if (Number(status) >= 500) throw new Defect(`answered ${answers.slice(0, 500)}`);
      }
      if (checked++ % LOOK_EVERY === 0) await requireWell(port, token, ciphertext);
    },
    print: ({ packets, end }) => `${end} ${packets.map((packet) => packet.toString('hex')).join(' ')}`,
    *simpler({ packets, end }) {
      for (const bytes of shorterBytes(Buffer.concat(packets))) yield { packets: [bytes], end };
    },
    async close() {
      await requireWell(port, token, ciphertext);
      const peak = peakMebibytes(server.child);
      await server.stop();
      const logged = server.log();
      const audit = readFileSync(join(place, 'audit'), 'utf8');
      const after = await contentOf(new FilesBackend(store));
      rmSync(place, { recursive: true, force: true });
      for (const line of [...logged.split('\n'), ...audit.split('\n')])
        secrets.examine(line, 'log or audit trail');
      if (logged.includes('"level":"error"')) throw new Defect(`logged: ${logged.slice(0, 2000)}`);
      if (after !== before) throw new Defect('the store was changed');
      if (peak > MAX_SERVER_MEBIBYTES) throw new Defect(`the server had ${peak} MiB of memory`);
    },
  };
}

/** The most memory that a process ever had, where the system tells; else 0. */
function peakMebibytes({ pid }: ChildProcess): number {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return 0;
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 0) / 1024;
}

/** Sends, and gathers what comes until the server closes the connection. */
function exchange(port: number, { packets, end }: Sending): Promise<string> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const limit = setTimeout(() => {
      socket.destroy();
      reject(new Defect(`the connection was not closed within ${HANG_MS / 1000} s`));
    }, HANG_MS);
    socket.on('data', (chunk) => received.push(chunk));
    // A server that hangs up while we still send is no failure.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(limit);
      resolve(Buffer.concat(received).toString('latin1'));
    });
    socket.on('end', () => socket.end());
    socket.on('connect', () => send(packets.values()));
    const send = (rest: ArrayIterator<Buffer>): void => {
      const next = rest.next();
      if (!next.done) socket.write(next.value, () => setImmediate(() => send(rest)));
      else if (end === 'reset') socket.resetAndDestroy();
      else if (end === 'half') socket.end();
    };
  });
}

const CLOSE = 'Connection: close';

const ask = (port: number, text: string): Promise<string> =>
  exchange(port, { packets: [Buffer.from(text)], end: 'wait' });

/** A server that is well says so, and decrypts what it always did. */
async function requireWell(port: number, token: string, ciphertext: string): Promise<void> {
  const health = await ask(port, request('GET', '/v1/sys/health', [CLOSE]));
  if (!health.startsWith('HTTP/1.1 200')) throw new Defect(`the server is not well: ${health}`);
  const body = JSON.stringify({ ciphertext });
  const known = request('POST', '/v1/transit/decrypt/orders', [CLOSE, `X-Vault-Token: ${token}`], body);
  const answer = await ask(port, known);
  if (!answer.includes(Buffer.from(SECRET).toString('base64')))
    throw new Defect(`a known answer changed: ${answer}`);
}

function request(method: string, path: string, headers: readonly string[], body?: string): string {
  const all = [`${method} ${path} HTTP/1.1`, 'Host: x', ...headers];
  if (body !== undefined) all.push(`Content-Length: ${Buffer.byteLength(body)}`);
  return `${all.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

function samplesFor(ciphertext: string): Buffer[] {
  const known = TOKEN_PLACE;
  const json = [known, 'Content-Type: application/json'];
  const chunk = '{"input":"AAAA"}';
  return [
    request('GET', '/v1/sys/health', []),
    request('GET', '/v1/sys/seal-status', ['Connection: close']),
    request('LIST', '/v1/transit/keys', [known]),
    request('GET', '/v1/transit/keys/orders?a=b&list=x', [TOKEN_PLACE]),
    request('POST', '/v1/transit/hash', json, '{"input":"AAAA"}'),
    request('POST', '/v1/transit/decrypt/orders', json, JSON.stringify({ ciphertext })),
    request('PUT', '/v1/transit/encrypt/orders', json, '{"plaintext":"AAAA"}'),
    request(
      'POST',
      '/v1/transit/hash/sha2-512',
      [known, 'Content-Type: application/x-www-form-urlencoded'],
      'input=AAAA',
    ),
    request(
      'POST',
      '/api/v2/organizations',
      [known, 'Content-Type: application/vnd.api+json'],
      '{"data":{}}',
    ),
    request('GET', '/api/v2/organizations/acme/tags?page%5Bsize%5D=1', [known]),
    request('OPTIONS', '/docs', ['Expect: 100-continue', 'Upgrade: h2c', 'Connection: upgrade']),
    `POST /v1/transit/hash HTTP/1.1\r\nHost: x\r\n${known}\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n${chunk}\r\n0\r\n\r\n`,
    request('POST', '/v1/transit/hash', [...json, 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    request('POST', '/v1/sys/unseal', ['Content-Type: application/json'], '{"key":"AAAA"}'),
    'GET / HTTP/1.0\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ].map((text) => Buffer.from(text));
}

/** Where the token goes when all is spoiled: a path or a body that a piece of it got into would tell it rightly. */
const TOKEN_PLACE = 'X-Vault-Token: @';

const LENGTHS = ['0', '1', '99', '-1', '1x', '0x10', '18446744073709551616', '1, 1', '', '5000000000'];

function generate(chance: Chance, samples: readonly Buffer[], token: string): Sending {
  const count = 1 + chance.size(3);
  const requests = Array.from({ length: count }, () => {
    const sample = chance.pick(samples);
    if (chance.oneIn(4)) return sample;
    return chance.oneIn(5) ? withLie(chance, sample) : spoiledBytes(chance, sample, samples);
  });
  if (chance.oneIn(200))
    requests.push(Buffer.alloc(chance.below(600_000), chance.pick(['a', '\0', '\r\n', 'A: b\r\n'])));
  const bytes = Buffer.concat(requests)
    .toString('latin1')
    .replaceAll(`${TOKEN_PLACE}\r\n`, `X-Vault-Token: ${token}\r\n`);
  return { packets: pieces(chance, Buffer.from(bytes, 'latin1')), end: chance.oneIn(6) ? 'reset' : 'half' };
}

/** A request that says something else of its length, or far too much of anything. */
function withLie(chance: Chance, sample: Buffer): Buffer {
  const text = sample.toString('latin1');
  const lie = chance.pick([
    () => text.replace(/Content-Length: \d+/, `Content-Length: ${chance.pick(LENGTHS)}`),
    () => text.replace('Host: x', `Host: x\r\nContent-Length: ${chance.pick(LENGTHS)}`),
    () => text.replace('Host: x', `Host: x\r\nX: ${'y'.repeat(chance.below(20_000))}`),
    () => text.replace('Host: x', 'Host: x\r\nA: b'.repeat(chance.below(3_000))),
    () => text.replace('/v1/', `/v1/${'../'.repeat(chance.below(50))}${'%2e'.repeat(chance.below(50))}`),
    () => text.replace('\r\n\r\n', `\r\n\r\n${'\r\n'.repeat(chance.below(20))}`),
  ]);
  return Buffer.from(lie(), 'latin1');
}

function pieces(chance: Chance, bytes: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  let rest = bytes;
  for (let cuts = chance.size(4); cuts > 0 && rest.length > 1; cuts--) {
    // The first letters are where a method is told from another.
    const at = 1 + chance.below(chance.oneIn(3) ? Math.min(6, rest.length - 1) : rest.length - 1);
    packets.push(rest.subarray(0, at));
    rest = rest.subarray(at);
  }
  return [...packets, rest];
}

export const sockets = target<Sending>({ name: 'sockets', cases: 8_000, open });
