import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isLong } from '../../long.ts';
import { seeded } from '../../seeded.ts';
import { chat } from '../../servers/raw-http.ts';
import { routePaths, spellings } from '../../servers/route-paths.ts';
import { spawnServer } from '../../servers/serving.ts';

const REQUESTS = 20;
const MOST_MS = 5;
const MOST_KIB = 256;
/** What is not kept for requests: code that was compiled, heaps that have grown to their size. */
const SETTLING_KIB = 64 * 1024;

/** Of all threads of a process, in milliseconds: what its work costs, however busy the machine is. */
function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const [nanoseconds = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  });
  return threads.reduce((sum, ms) => sum + ms, 0);
}

const residentKiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Bodies below what counts as large, so that they come in one piece with the head. */
const BODY_BYTES = 60_000;
const filled = (start: string, piece: string, end: string): string =>
  start + piece.repeat(Math.floor((BODY_BYTES - start.length - end.length) / piece.length)) + end;
const bodies: Readonly<Record<string, string>> = {
  nothing: '',
  'a long number and many short ones': filled('{"x":12345678901234567890,"a":[0', ',0', ']}'),
  'long numbers': filled('{"a":[0', ',12345678901234567890', ']}'),
  nesting: filled('', '{"a":', ''),
  'a form of one name': filled('a=b', '&a=b', ''),
  'many names': `{"a":1${Array.from({ length: 5000 }, (_, index) => `,"a${index}":1`).join('')}}`,
};

describe('a request of somebody without a good token', () => {
  it('costs the server at most 5 ms and 256 KiB, whatever the route, its spelling and its body', async () => {
    const chance = seeded();
    const server = await spawnServer();
    const pid = server.child.pid ?? 0;
    const port = Number(new URL(server.address).port);
    const ask = async (
      method: string,
      path: string,
      body: string,
      token: string,
      requests = REQUESTS,
    ): Promise<void> => {
      const verb = method === 'LIST' || method === 'GET' ? method : chance.pick([method, 'POST', 'PUT']);
      const request = [
        `${verb} ${path} HTTP/1.1`,
        'Host: x',
        `Content-Type: ${chance.pick(['application/json', 'application/x-www-form-urlencoded', 'application/vnd.api+json'])}`,
        ...(token === '' ? [] : [`X-Vault-Token: ${token}`]),
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n');
      const { answers } = await chat(
        Array.from({ length: requests }, () => request),
        { port, answers: requests, gapMs: 0 },
      );
      expect(answers.length, `${verb} ${path}`).toBeGreaterThan(0);
    };
    for (const { method, path } of routePaths) await ask(method, path, '', '', 2);
    // Here bodies are read. What is measured is what many requests cost, and not the compiler.
    for (const body of Object.values(bodies)) {
      for (let round = 0; round < 12; round++) await ask('POST', '/v1/sys/unseal', body, '');
    }
    const before = residentKiB(pid);
    const costs: { readonly ms: number; readonly what: string }[] = [];
    for (const { method, path } of routePaths) {
      const [plain = path, ...others] = spellings(path);
      for (const written of isLong ? [plain, ...others] : [chance.pick([plain, chance.pick(others)])]) {
        const [name, body] = chance.pick(Object.entries(bodies));
        const token = chance.pick(['', '', `cfr.${'x'.repeat(43)}`, 'x'.repeat(8000)]);
        const once = async (): Promise<number> => {
          const start = processorMs(pid);
          await ask(method, written, body, token);
          return (processorMs(pid) - start) / REQUESTS;
        };
        let ms = await once();
        // A compiler or a collection of garbage that falls into these requests is not their cost: what they cost, they cost again.
        for (let again = 0; ms > MOST_MS && again < 10; again++) ms = Math.min(ms, await once());
        costs.push({ ms, what: `${method} ${written} with ${name} and ${token.length} letters of a token` });
      }
    }
    const worst = costs.toSorted((a, b) => b.ms - a.ms).slice(0, 5);
    const kept = residentKiB(pid) - before;
    process.stderr.write(
      `the most costly: ${worst.map(({ ms, what }) => `${ms.toFixed(2)} ms ${what}`).join('; ')}\n` +
        `kept by ${costs.length * REQUESTS} requests: ${kept} KiB\n`,
    );
    expect(worst.filter(({ ms }) => ms > MOST_MS)).toEqual([]);
    expect(kept).toBeLessThan(SETTLING_KIB);
    expect(kept / (costs.length * REQUESTS)).toBeLessThan(MOST_KIB);
  }, 300_000);
});
