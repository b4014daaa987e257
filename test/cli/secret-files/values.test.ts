import { describe, expect, it } from 'vitest';
import { openValues, rewrapValues, sealValues } from '../../../src/cli/secret-files/values.ts';
import { denied, notFound } from '../../../src/ground/errors.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { answeredSession } from '../answering.ts';

const KEY = { mount: 'transit', name: 'app' };
/** A nonce, a tag and two bytes between them, in base64. */
const PAYLOAD = Buffer.alloc(30, 7).toString('base64');

const found = (name: string, payload = PAYLOAD) => ({
  name,
  value: { mount: 'transit', key: 'app', version: 1, payload },
  where: 'app.env:1',
});
/** A store whose key has one version, and that answers a batch so. */
const answering = (results: unknown) =>
  answeredSession((name) => {
    if (name === 'transit keys read') return { latest_version: 1, min_decryption_version: 1 };
    return { batch_results: results };
  }).session;
const b64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString('base64');

describe('values of a file that a store decrypts', () => {
  it('are text, and nothing else', async () => {
    expect(await openValues(answering([{ plaintext: b64('ü') }]), [found('A')])).toEqual(['ü']);
    const [result] = await openValues(answering([{ plaintext: b64(Buffer.of(0x61, 0xff)) }]), [found('A')]);
    expect(result).toMatchObject({
      kind: 'unsupported',
      message: 'app.env:1: A: the decrypted value is not text (UTF-8)',
    });
  });

  it('are decrypted by the key of their own mount, also where another mount has one of the same name', async () => {
    const { session } = answeredSession((name, { batch_input: items }, mount) => {
      if (name === 'transit keys read') return { latest_version: 1, min_decryption_version: 1 };
      return { batch_results: (items as unknown[]).map(() => ({ plaintext: b64(String(mount)) })) };
    });
    const other = { ...found('B'), value: { ...found('B').value, mount: 'teams' } };
    expect(await openValues(session, [found('A'), other])).toEqual(['transit', 'teams']);
  });

  it.each<[string, unknown]>([
    ['more results than values', [{ plaintext: '' }, { plaintext: '' }]],
    ['fewer results than values', []],
    ['no list of results', { plaintext: '' }],
    ['a result that is no object', ['plaintext']],
    ['a result that is nothing', [null]],
  ])('are none of an answer with %s', async (_, results) => {
    expect(await rejectionOf(openValues(answering(results), [found('A')]))).toMatchObject({
      kind: 'unavailable',
      message: 'unexpected response: wrong number of results',
    });
  });

  it.each([
    ['the shortest length', 'A'.repeat(40), /^the value was modified/],
    [
      'a group of base64 less than that',
      'A'.repeat(36),
      /^the value appears to be truncated: restore it from git or a backup$/,
    ],
    [
      'no whole groups of base64',
      'A'.repeat(41),
      /^the value appears to be truncated: restore it from git or a backup$/,
    ],
  ])('are called truncated, or modified, by their length: %s', async (_, payload, hint) => {
    const [result] = await openValues(answering([{ error: 'cannot decrypt' }]), [found('A', payload)]);
    expect(result).toMatchObject({
      kind: 'inauthentic',
      message: 'app.env:1: A: cannot decrypt',
      hint: expect.stringMatching(hint),
    });
  });

  it('fail one by one for a key that is not there, and all at once for any other refusal', async () => {
    const refusing = (error: Error) =>
      answeredSession(() => {
        throw error;
      }).session;
    const [result] = await openValues(refusing(notFound('no key')), [found('A')]);
    expect(result).toMatchObject({
      kind: 'not-found',
      message: 'app.env:1: A: no key "app" in mount "transit"',
    });
    const refusal = denied('permission denied');
    expect(await rejectionOf(openValues(refusing(refusal), [found('A')]))).toBe(refusal);
  });
});

describe('values of a file that a store encrypts', () => {
  const seal = (ciphertext: string, name = 'A') =>
    sealValues(answering([{ ciphertext }]), KEY, [{ name, source: 'x' }]);

  it('become what their key and its version are read from', async () => {
    const sealed = { mount: 'transit', key: 'app', version: 3, payload: PAYLOAD };
    expect(await seal(`service:v3:${PAYLOAD}`)).toEqual([sealed]);
    expect(await rewrapValues(answering([{ ciphertext: `vault:v3:${PAYLOAD}` }]), [found('A')])).toEqual([
      sealed,
    ]);
  });

  it.each([`{{v1}}${PAYLOAD}`, `service:v1:${PAYLOAD}!`, `service:v:${PAYLOAD}`, 'service:v1:', ''])(
    'are not written as %j, which no file could be read from',
    async (ciphertext) => {
      const refusal = {
        kind: 'unsupported',
        message: 'the ciphertexts of key "app" have a custom format and cannot be stored in files',
      };
      expect(await rejectionOf(seal(ciphertext))).toMatchObject(refusal);
    },
  );

  it('have a name, which they are bound to', async () => {
    expect(await rejectionOf(seal(`service:v1:${PAYLOAD}`, ''))).toMatchObject({
      kind: 'unsupported',
      message: 'a value without a name cannot be encrypted',
    });
  });
});
