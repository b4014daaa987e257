import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  issueToken,
  type SendOptions,
  send,
  setPolicy,
  startServer,
  type TestServer,
} from '../../../servers/serving.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const [OURS, THEIRS] = [base64('ours'), base64('theirs')];
const MOVING = `path "transit/reencrypt/orders/archive" { capabilities = ["update"] }
  path "transit/rewrap/orders" { capabilities = ["update"] }
  path "transit/encrypt/archive" { capabilities = ["update"] }`;
/** A rule by which the destination is read, or its material gotten at. */
const rule = (path: string, more = ''): string =>
  `path "transit/${path}" { capabilities = ["read", "update"] ${more} }`;

let server: TestServer;
let ciphertext: string;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({}, afterwards);
  for (const name of ['orders', 'archive']) {
    await call('POST', `/v1/transit/keys/${name}`, { body: { derived: name === 'orders' } });
  }
  const body = { plaintext: base64('fox'), context: OURS };
  ciphertext = (await call('POST', '/v1/transit/encrypt/orders', { body })).json.data.ciphertext;
});

const call = (method: string, path: string, options: SendOptions = {}) =>
  send(server.address, method, path, { token: server.token, ...options });

/** The status for a token with these rules and those that it takes to move anything. */
async function statusFor(rules: string, body: object = {}, headers: Record<string, string> = {}) {
  await setPolicy(server.directory, 'clerk', `${MOVING}\n${rules}`);
  const token = await issueToken(server.directory, { policies: ['clerk'] });
  const sent = { ciphertext, context: OURS, encrypt_context: '', ...body };
  const path = '/v1/transit/reencrypt/orders/archive';
  return (await call('POST', path, { token, body: sent, headers })).status;
}

describe('reencrypt at a server', () => {
  it.each([
    ['', 200],
    [rule('decrypt/archive'), 403],
    [rule('decrypt/archive') + rule('decrypt/orders'), 200],
    // One that counts for wrapped answers alone, or for open ones.
    [rule('decrypt/archive', 'min_wrapping_ttl = "1m"'), 403],
    [rule('decrypt/archive', 'max_wrapping_ttl = "1m"'), 403],
    // What a final slash is allowed by.
    [rule('decrypt/archive/'), 403],
    [rule('decrypt/archive/*'), 403],
    [rule('decrypt/ar*'), 403],
    [rule('decrypt/archive', 'required_parameters = ["context"]'), 403],
    [rule('export/encryption-key/archive/latest'), 403],
    [rule('+/signing-key/archive'), 403],
    [rule('byok-export/+/archive'), 403],
    [rule('backup/*'), 403],
    [rule('restore/archive'), 403],
    [rule('keys/archive/*'), 403],
    [`${rule('decrypt/*')} path "transit/decrypt/archive" { capabilities = ["deny"] }`, 200],
    [rule('export/public-key/*') + rule('backup/orders') + rule('keys/archive'), 200],
  ])('is done for who has the rules %j beside those for it as the status says: %i', async (rules, status) => {
    expect(await statusFor(rules)).toBe(status);
  });

  it('is refused where a rule wants a wrapped answer that is asked for otherwise than for this one', async () => {
    const short = rule('decrypt/archive', 'max_wrapping_ttl = "1m"');
    expect(await statusFor(short, {}, { 'x-vault-wrap-ttl': '2m' })).toBe(403);
  });

  it('asks rules about parameters what would be sent to decrypt with the one key and to encrypt with the other', async () => {
    const reading = rule('decrypt/archive');
    const only = (path: string, context: string) =>
      rule(path, `allowed_parameters = { "context" = ["${context}"] "ciphertext" = [] }`);
    expect(await statusFor(reading + only('decrypt/orders', OURS))).toBe(200);
    expect(await statusFor(reading + only('decrypt/orders', THEIRS))).toBe(403);
    const batch_input = [{ ciphertext, context: OURS }];
    expect(await statusFor(reading + only('decrypt/orders', THEIRS), { batch_input })).toBe(403);
    const denied = rule('decrypt/orders', `denied_parameters = { "context" = ["${OURS}"] }`);
    expect(await statusFor(reading + denied)).toBe(403);
    const bound = rule(
      'encrypt/archive',
      `allowed_parameters = { "associated_data" = ["${THEIRS}"] "*" = [] }`,
    );
    expect(await statusFor(bound, { encrypt_associated_data: THEIRS })).toBe(200);
    expect(await statusFor(bound, { encrypt_associated_data: OURS })).toBe(403);
    expect(await statusFor(bound, { associated_data: OURS })).toBe(403);
  });
});
