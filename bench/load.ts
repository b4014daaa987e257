/**
 * Loads a server with one repeated request on several kept connections, by `wrk`, which is written in C. A load
 * generator in Node is slower than the measured servers, so that each would wait for it, and their ratio would approach
 * 1.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A request as it is sent each time, to a server on loopback. */
export interface Request {
  /** One `*` in it stands for what `names` says. */
  readonly path: string;
  /** A name at random each time, which nothing has had before; or one of so many, `0`, `1` and so on, in turn. */
  readonly names?: 'new' | number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Load {
  readonly port: number;
  readonly request: Request;
  readonly connections: number;
  /** Concurrent requests per connection; above 1 they are pipelined, which saves the generator most of its work. */
  readonly depth: number;
  readonly measureMs: number;
}

export interface Measured {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Error responses end the measurement: fast refusals would look like speed. */
const DONE = `
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\\n{"requests":%d,"seconds":%.6f,"p50Ms":%.4f,"p99Ms":%.4f,"failed":%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
`;

/**
 * Measures a server under load.
 * @throws Error if a response was not 2xx, or a connection failed
 */
export async function underLoad({ port, request, connections, depth, measureMs }: Load): Promise<Measured> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-load-'));
  try {
    const script = join(directory, 'request.lua');
    writeFileSync(script, scriptOf(request, depth));
    const { stdout } = await promisify(execFile)(wrk(), [
      ...['--threads', '1', '--timeout', '30s', '--connections', String(connections), '--script', script],
      // wrk counts in whole seconds.
      ...['--duration', String(Math.max(1, Math.round(measureMs / 1000)))],
      `http://127.0.0.1:${port}${request.path.replace('*', '0')}`,
    ]);
    const { failed, ...measured } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Measured & {
      failed: number;
    };
    if (failed > 0) throw new Error(`${failed} of ${measured.requests} requests to ${request.path} failed`);
    return measured;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Tells wrk what to send, in Lua; a text of JSON is one of Lua as well, but for the characters beyond ASCII and its escapes `\\u`. */
function scriptOf({ path, names, headers, body }: Request, depth: number): string {
  const lines = [
    'wrk.method = "POST"',
    ...Object.entries(headers).map(([name, value]) => `wrk.headers[${luaText(name)}] = ${luaText(value)}`),
    `wrk.body = ${luaText(body)}`,
  ];
  if (depth > 1) {
    lines.push(
      'local requests',
      `init = function() requests = string.rep(wrk.format(), ${depth}) end`,
      'request = function() return requests end',
    );
  }
  if (names !== undefined) lines.push(...namesOf(path, names));
  return `${lines.join('\n')}\n${DONE}`;
}

/** The generator is one thread, so a count tells names apart; the time does so between two loads. */
function namesOf(path: string, names: 'new' | number): readonly string[] {
  const [before = '', after = ''] = path.split('*');
  const name =
    names === 'new'
      ? `string.format('%08x-${Date.now().toString(36)}-%x', math.random(0, 0x7fffffff), count)`
      : `string.format('%d', count % ${names})`;
  return [
    `math.randomseed(${Date.now() % 0x7fffffff})`,
    'local count = 0',
    'request = function()',
    '  count = count + 1',
    `  return wrk.format(nil, ${luaText(before)} .. ${name} .. ${luaText(after)})`,
    'end',
  ];
}

const luaText = (text: string): string =>
  `"${[...Buffer.from(text)].map((byte) => (isPlain(byte) ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`)).join('')}"`;

/** Whether a byte is printable ASCII other than a quotation mark or backslash. */
const isPlain = (byte: number): boolean => byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;

let found: string | undefined;

/** Returns the program, after installing it if that is allowed and needed. */
function wrk(): string {
  if (found !== undefined) return found;
  const has = (): boolean => {
    try {
      execFileSync('wrk', ['--version'], { stdio: 'ignore' });
      return true;
    } catch (error) {
      // It exits with 1 after printing its version.
      return (error as { code?: string }).code !== 'ENOENT';
    }
  };
  if (!has() && process.getuid?.() === 0) {
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore' });
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'wrk'], { stdio: 'ignore' });
  }
  if (!has())
    throw new Error('wrk is missing, which loads the servers: install it (Debian: apt-get install wrk)');
  found = 'wrk';
  return found;
}
