import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LOGIN_METHODS } from '../../../src/operations/mount-types.ts';
import { routePaths } from '../../servers/route-paths.ts';
import { issueToken, send, startServer, temporaryDirectory } from '../../servers/serving.ts';

interface Recorded {
  readonly request: { readonly data?: Readonly<Record<string, unknown>> };
  readonly error?: string;
}

/** What an error says, and pieces of it that would blind whoever looks for it, if they were hashed. */
const piecesOf = (error: string): readonly string[] => [
  error,
  error.slice(3, -3),
  error.slice(0, Math.ceil(error.length / 2)),
  ...error.split(/[^A-Za-z]+/).filter((word) => word.length > 3),
];

describe('the error of a refusal in the audit trail', () => {
  it('stays what it is for strangers and for tokens of the policy default, whatever parameters say the same', async () => {
    const auditFile = join(temporaryDirectory(), 'audit.log');
    const { address, token, directory } = await startServer({ auditFile });

    for (const type of LOGIN_METHODS)
      await send(address, 'POST', `/v1/sys/auth/${type}`, { token, body: { type } });
    const poor = await issueToken(directory, { policies: ['default'] });
    const trail = openSync(auditFile, 'r');
    const ask = async (path: string, body: object, as: string | undefined) => {
      const answer = await send(address, 'POST', path, { body, token: as });
      const last = readFileSync(trail, 'utf8').trimEnd().split('\n').at(-1) ?? '';
      const record = last === '' ? undefined : (JSON.parse(last) as Recorded);
      return { said: JSON.stringify(answer.json?.errors), record };
    };
    const hidden: string[] = [];
    let tried = 0;
    for (const { path, operation } of routePaths.filter(({ method }) => method === 'POST')) {
      const names = Object.keys(operation.params);
      const filled = (value: string) => Object.fromEntries(names.map((name) => [name, value]));
      for (const as of [undefined, poor]) {
        for (const body of [{}, filled('x'), filled('xyz.abc')]) {
          const { said, record } = await ask(path, body, as);
          if (record?.error === undefined || record.request.data === undefined) continue;
          for (const piece of piecesOf(record.error)) {
            for (const sent of [
              { ...filled(piece), ...body },
              ...names.map((name) => ({ ...body, [name]: piece })),
            ]) {
              const again = await ask(path, sent, as);
              if (again.said !== said) continue;
              tried += 1;
              if (again.record?.error !== record.error)
                hidden.push(`${path}: ${record.error} as ${again.record?.error}`);
            }
          }
        }
      }
    }
    closeSync(trail);
    expect(hidden.slice(0, 20)).toEqual([]);
    expect(tried).toBeGreaterThan(100);
  });

  it('stays what it is for who may do what they ask for as well', async () => {
    const auditFile = join(temporaryDirectory(), 'audit.log');
    const { address, token } = await startServer({ auditFile });
    const asked = {
      'transit/random': { bytes: 0, format: "'bytes' cannot be less than 1" },
      'transit/keys/a': {
        convergent_encryption: true,
        type: 'convergent encryption requires derivation to be enabled',
      },
      'sys/capabilities': { paths: [], token: 'paths must be supplied' },
    };
    for (const [path, body] of Object.entries(asked)) {
      const { status, json } = await send(address, 'POST', `/v1/${path}`, { token, body });
      expect(status, path).toBe(400);
      const last = readFileSync(auditFile, 'utf8').trimEnd().split('\n').at(-1) ?? '';
      expect((JSON.parse(last) as Recorded).error).toBe(json.errors[0]);
    }
  });
});
