import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { initStore } from '../../src/store/administration/init.ts';
import { binary, emptyPlace, type Place, type Result, removePlace } from '../e2e/harness.ts';
import { isLong } from '../long.ts';
import { type ServerProcess, startServerProcess } from '../servers/server-process.ts';
import { type Reply, type SendOptions, send } from '../servers/serving.ts';
import { Canaries } from './canaries.ts';

vi.mock('../../src/store/slots/key-encryption.ts', async (original) =>
  (await import('../light-argon2.ts')).withLightSlots(await original()),
);

/** A word that occurs nowhere else. */
const word = (what: string): string => `${what}-${randomBytes(9).toString('hex')}`;

const passphrase = word('passphrase');
const wrongPassphrase = word('wrong passphrase');
const plaintext = word('attack at dawn');
const context = word('context');
const associatedData = word('associated data');
const message = word('message');
const badToken = `cfr.${randomBytes(32).toString('base64url')}`;
const keyName = word('key');
const tagName = word('tag');

/** What may be said to nobody but whom it belongs to. */
const secrets = new Canaries({
  passphrase,
  wrongPassphrase,
  plaintext,
  context,
  associatedData,
  message,
  badToken,
});
/** What the store hides from whoever has its files, beside. */
const names = new Canaries({ keyName, tagName });

const base64 = (text: string): string => Buffer.from(text).toString('base64');

let place: Place;
const environment = () => ({ TMPDIR: place.file('tmp'), COFFER_DEBUG: '1' });

beforeAll(async () => {
  place = emptyPlace({ COFFER_PASSPHRASE: passphrase });
  mkdirSync(place.file('tmp'));
  await initStore({ location: place.file('store'), slots: [{ kind: 'passphrase', passphrase }] });
});
afterAll(() => removePlace(place));

/** Every file below a directory, by path, with names and contents in one text. */
function everythingIn(directory: string): string {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) =>
      statSync(join(directory, path)).isFile() ? path + readFileSync(join(directory, path), 'latin1') : path,
    )
    .join('\n');
}

describe('what commands say', () => {
  /** Lines, what goes in, and whether the answer is the secret itself. */
  const said: Result[] = [];

  it.each(['table', 'json'])(
    'with -o %s is no secret that was given to them, whether they work or fail',
    async (format) => {
      const as = ['-o', format];
      // What Node itself would say, with one of the two.
      const runner = format === 'table' || isLong ? place.spawned : place;
      const run = async (
        words: readonly string[],
        input = '',
        more: Readonly<Record<string, string>> = {},
      ): Promise<Result> => {
        const result = await runner.run(words, { input, environment: { ...environment(), ...more } });
        said.push(result);
        return result;
      };
      await run(['transit', 'keys', 'create', keyName, '--derived', ...as]);
      const given = ['--context-text', context, '--associated-data-text', associatedData];
      const { stdout } = await run(['transit', 'encrypt', keyName, ...given, ...as], plaintext);
      const ciphertext = /[a-z]+:v1:[A-Za-z0-9+/=]+/.exec(stdout)?.[0] ?? '';
      expect(ciphertext).not.toBe('');
      // Refused, in every way in which an error could quote what it was about.
      await run(['transit', 'decrypt', keyName, ciphertext, '--context-text', `${context}x`, ...as]);
      await run(['transit', 'decrypt', keyName, plaintext, ...given, ...as]);
      await run(['transit', 'encrypt', keyName, '--base64', ...given, ...as], `${plaintext}!`);
      await run(['transit', 'encrypt', keyName, '--context', `${context}!`, ...as], plaintext);
      await run(
        ['transit', 'encrypt', keyName, '--batch', '-', ...as],
        `{"plaintext":"${plaintext}!"}\n${plaintext}\n`,
      );
      await run(['transit', 'verify', keyName, '--signature', message, ...as], message);
      await run(['transit', 'restore', 'other', ...as], plaintext);
      await run(['transit', 'keys', 'list', ...as], '', { COFFER_PASSPHRASE: wrongPassphrase });
      await run(['transit', 'keys', 'list', ...as], '', { COFFER_MASTER_KEY: wrongPassphrase });
      await run(['transit', 'keys', 'list', '--address', 'http://127.0.0.1:1', '--token', badToken, ...as]);
      await run(['transit', 'keys', 'list', '--address', 'http://127.0.0.1:1', ...as], '', {
        COFFER_TOKEN: `${badToken}\n`,
      });
      await run(['orgs', 'create', `org-${format}`, ...as]);
      await run(['tags', 'create', tagName, '--org', `org-${format}`, ...as]);
      for (const { stdout, stderr } of said) expect(secrets.toldBy(stdout + stderr)).toEqual([]);
    },
  );

  it('left files that hold none of it, nor any name, and nothing among the temporary files', () => {
    expect(names.toldBy(everythingIn(place.file('store')))).toEqual([]);
    expect(secrets.toldBy(everythingIn(place.directory))).toEqual([]);
    expect(readdirSync(place.file('tmp'))).toEqual([]);
  });
});

describe('what a server says', () => {
  let server: ServerProcess;
  let token: string;
  const replies: Reply[] = [];
  const call = async (method: string, path: string, options: SendOptions = {}): Promise<Reply> => {
    const reply = await send(server.address, method, path, { token, ...options });
    replies.push(reply);
    return reply;
  };

  beforeAll(async () => {
    token = await place.ok('token create --policy root');
    const words = ['serve', '--listen', '127.0.0.1:0', '--workers', '2', '--audit-log', place.file('audit')];
    server = await startServerProcess([binary, ...words], {
      directory: place.directory,
      environment: place.environment(environment()),
    });
  });
  afterAll(() => server.stop());

  it('is no secret of the requests that it answers or refuses, nor of those that unseal it', async () => {
    const given = { context: base64(context), associated_data: base64(associatedData) };
    await call('POST', `/v1/transit/keys/${keyName}-served`, { body: { derived: true } });
    const path = `/v1/transit/encrypt/${keyName}-served`;
    const encrypted = await call('POST', path, { body: { plaintext: base64(plaintext), ...given } });
    expect(encrypted.status).toBe(200);
    await refuseBodies(path);
    await refusePaths();
    await call('POST', '/v1/transit/hmac/signing', { body: { input: base64(message) } });
    const item = { plaintext: base64(plaintext), ...given };
    await call('POST', path, { body: { batch_input: Array.from({ length: 800 }, () => item) } });
    await call('POST', path, { body: { batch_input: Array.from({ length: 800 }, () => ({ plaintext })) } });
    await call('PUT', '/v1/sys/seal');
    for (const key of [wrongPassphrase, passphrase]) await call('PUT', '/v1/sys/unseal', { body: { key } });
    const metrics = await call('GET', '/v1/sys/metrics?format=prometheus');
    expect(metrics.text).toContain('coffer_');
    for (const { text, headers } of replies) {
      expect(secrets.toldBy(text + JSON.stringify(headers))).toEqual([]);
    }
  });

  /** Bodies that are wrong, each in its own way, with a secret at the place of the fault. */
  async function refuseBodies(path: string): Promise<void> {
    const bodies: readonly unknown[] = [
      { plaintext, context },
      { plaintext: base64(plaintext), context },
      { plaintext: { [plaintext]: plaintext } },
      { [plaintext]: context },
      { plaintext: base64(plaintext), key_version: plaintext },
      { plaintext: base64(plaintext), type: plaintext },
      `{"plaintext":"${plaintext}`,
      plaintext,
      `"${plaintext}"`,
    ];
    for (const body of bodies) await call('POST', path, { body });
    await call('POST', path, { token: badToken, body: { plaintext: base64(plaintext) } });
    await call('POST', path, { token: '', headers: { authorization: `Bearer ${badToken}` }, body: {} });
    await call('POST', '/api/v2/organizations', { body: plaintext });
  }

  /** Tokens where they don't belong. */
  async function refusePaths(): Promise<void> {
    for (const path of [`auth/token/lookup/${badToken}`, badToken, `sys/mounts/${badToken}/tune`]) {
      // The answer repeats the path, to nobody but who sent it.
      await send(server.address, 'GET', `/v1/${path}`, { token });
    }
    await call('GET', `/v1/sys/health?token=${badToken}&${badToken}`);
    await call('GET', `/api/v2/organizations/${badToken}`, { token: badToken });
    await call('POST', '/v1/auth/token/revoke', { body: { token: badToken } });
  }

  it('goes into its log, its audit trail and its files without any of them', async () => {
    await server.stop();
    const log = server.log();
    expect(log).toContain('"message":"listening"');
    const audit = readFileSync(place.file('audit'), 'utf8');
    expect(audit.split('\n').length).toBeGreaterThan(20);
    const both = new Canaries({ token }).toldBy(log + audit);
    expect([...both, ...secrets.toldBy(log), ...secrets.toldBy(audit)]).toEqual([]);
    expect(new Canaries({ keyName, tagName, token }).toldBy(everythingIn(place.file('store')))).toEqual([]);
    expect(secrets.toldBy(everythingIn(place.directory))).toEqual([]);
    expect(readdirSync(place.file('tmp'))).toEqual([]);
  });
});
