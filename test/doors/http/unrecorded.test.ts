import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isLong } from '../../long.ts';
import { seeded } from '../../seeded.ts';
import { routePaths, spellings } from '../../servers/route-paths.ts';
import { send, startServer, temporaryDirectory } from '../../servers/serving.ts';

const page = readFileSync(new URL('../../../docs/threat-model.md', import.meta.url), 'utf8').replaceAll(
  /\s+/g,
  ' ',
);

/** What is answered without a record, by what it says, and how the page about it puts that. */
const UNRECORDED: readonly (readonly [RegExp, string])[] = [
  [/the path is not percent-encoded UTF-8/, 'is not UTF-8 in percent-encoding'],
  [/relative paths not supported/, 'has `..` in it'],
  [/cannot write to a path ending in/, 'writes to a path that ends in a slash'],
  [/"errors":\["1 error occurred:\\n\\t\* unsupported operation/, 'another method on these paths'],
  [/^$/, 'a method that `/v1` does not know'],
  [/^\{"errors":\[\]\}/, 'a `list` that is neither true nor false'],
  [/namespace not found/, 'a namespace'],
  [/error parsing X-Vault-Wrap-TTL header/, 'an invalid time for wrapping'],
  [/request body too large/, 'more than 1 MiB under `sys/` and `auth/`'],
  [/requests from web pages of other origins are refused/, 'requests to unseal from a web page'],
];

async function audited() {
  const auditFile = join(temporaryDirectory(), 'audit.log');
  const server = await startServer({ auditFile });
  const lines = () => (existsSync(auditFile) ? readFileSync(auditFile, 'utf8').split('\n').length : 0);
  const ask = async (method: string, path: string, options: Parameters<typeof send>[3] = {}) => {
    const before = lines();
    const { status, text } = await send(server.address, method, path, options);
    return { status, text, isRecorded: lines() > before };
  };
  return { ...server, ask };
}

describe('a request without a record in the audit trail', () => {
  it('is of a kind that the page about it names, whatever was asked for and by whom', async () => {
    const chance = seeded();
    const { token, ask } = await audited();
    const missed: unknown[] = [];
    for (const { path } of routePaths.filter(({ path }) => !path.includes('seal'))) {
      const [plain = path, ...others] = spellings(path);
      for (const written of isLong ? [plain, ...others] : [plain, chance.pick(others)]) {
        const method = chance.pick(['GET', 'POST', 'PUT', 'DELETE', 'LIST', 'PATCH']);
        const as = chance.pick([{}, { token: 'cfr.none' }, { token }]);
        const { status, text, isRecorded } = await ask(method, written, as);
        if (status < 400 || isRecorded || UNRECORDED.some(([answer]) => answer.test(text))) continue;
        missed.push([method, written, status, text]);
      }
    }
    expect(missed).toEqual([]);
  });

  it.each([
    ['HEAD', '/v1/transit/keys/k', {}],
    ['GET', '/v1/sys/mounts%ff', {}],
    ['GET', '/v1/a/../b', {}],
    ['POST', '/v1/transit/keys/k/', {}],
    ['GET', '/v1/sys/mounts?list=perhaps', {}],
    ['DELETE', '/v1/sys/health', {}],
    ['GET', '/v1/sys/mounts', { headers: { 'x-vault-namespace': 'other' } }],
    ['GET', '/v1/sys/auth', { headers: { 'x-vault-wrap-ttl': 'soon' } }],
    ['POST', '/v1/sys/mounts/x', { body: { description: 'x'.repeat(1024 * 1024) } }],
    ['POST', '/v1/sys/unseal', { body: {}, headers: { origin: 'https://page.test' } }],
  ] as const)('is named on that page: %s %s', async (method, path, options) => {
    const { ask } = await audited();
    const { status, text, isRecorded } = await ask(method, path, options);
    const words = UNRECORDED.find(([answer]) => answer.test(text))?.[1] ?? 'no words';
    expect({ isRefused: status >= 400, isRecorded, text }).toEqual({
      isRefused: true,
      isRecorded: false,
      text,
    });
    expect(page).toContain(words);
  });
});
