import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, leave, placeForAgents } from './agent-target.ts';
import type { Place, Result } from './harness.ts';

/** The protocol of age plugins (C2SP, age-plugin.md) as age speaks it, with answers that don't wait for what they answer. */

const FILE_KEY = Buffer.alloc(16, 5);
const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
const stanza = (words: string, body = ''): string => `-> ${words}\n${body}\n`;
const OK = stanza('ok').repeat(10);
const DONE = stanza('done');

let place: Place;
let owner: Place;
let recipient: string;
let identity: string;

beforeAll(async () => {
  place = placeForAgents();
  owner = place.with(KEY);
  await owner.ok('init');
  await owner.ok(`unlock --audit-log ${place.file('audit.log')}`);
  for (const [name, type] of [
    ['inbox', 'x25519'],
    ['hybrid', 'mlkem768-x25519'],
    ['tagged', 'p256'],
    ['app', 'aes256-gcm96'],
  ]) {
    await place.ok(`transit keys create ${name} --type ${type}`);
  }
  const lines = (await place.ok('agent offer inbox --age')).split('\n');
  [identity = '', recipient = ''] = lines.map((line) => line.replace(/^\w+: /, ''));
});

afterAll(() => leave(place));

const plugin = (of: Place, machine: string, input: string): Promise<Result> =>
  of.spawned.run(['age-plugin', `--age-plugin=${machine}`], { input });

const wrapped = async (of: Place, to: string): Promise<string> =>
  (
    await plugin(
      of,
      'recipient-v1',
      stanza('grease-1 x') +
        stanza(`add-recipient ${to}`) +
        stanza('wrap-file-key', unpadded(FILE_KEY)) +
        stanza('extension-labels') +
        DONE +
        OK,
    )
  ).stdout;

/** The stanza that the plugin made, as it stands in a file. */
const inFile = (said: string): string => said.replace(/^-> recipient-stanza 0 /m, '-> ').replace(DONE, '');

const opened = async (of: Place, who: string, stanzas: string): Promise<string> =>
  (
    await plugin(
      of,
      'identity-v1',
      stanza(`add-identity ${who}`) +
        stanza('recipient-stanza 0 other x', 'AAAA') +
        stanzas.replace('-> ', '-> recipient-stanza 0 ') +
        DONE +
        OK,
    )
  ).stdout;

const FOUND = stanza('file-key 0', unpadded(FILE_KEY)) + DONE;

describe('the plugin of age', () => {
  it('wraps and opens file keys with stanzas of age itself', async () => {
    const made = await wrapped(place, recipient);
    expect(made).toMatch(/^-> recipient-stanza 0 X25519 [\w+/]{43}\n[\w+/]{43}\n-> done\n\n$/);
    expect(await opened(place, identity, inFile(made))).toBe(FOUND);
    // What "age -j coffer" sends.
    expect(await opened(place, 'AGE-PLUGIN-COFFER-1VVM9ZD', inFile(made))).toBe(FOUND);
  });

  it('labels what quantum computers do not open', async () => {
    const offered = (await place.json('agent offer hybrid --age')) as { recipient: string; identity: string };
    const made = await wrapped(place, offered.recipient);
    expect(made).toMatch(/^-> labels postquantum\n\n-> recipient-stanza 0 mlkem768x25519 /);
    const one = made.slice(made.indexOf('-> recipient-stanza'));
    expect(await opened(place, offered.identity, inFile(one))).toBe(FOUND);
  });

  it('opens what was written to a key on P-256, and only that', async () => {
    const offered = (await place.json('agent offer tagged --age')) as { recipient: string; identity: string };
    const made = await wrapped(place, offered.recipient);
    expect(made).toMatch(/^-> recipient-stanza 0 p256tag [\w+/]{6} [\w+/]{87}\n[\w+/]{43}\n-> done\n\n$/);
    expect(await opened(place, offered.identity, inFile(made))).toBe(FOUND);
    const forAnother = inFile(made).replace(/p256tag [\w+/]{6}/, 'p256tag AAAAAA');
    expect(await opened(place, offered.identity, forAnother)).toBe(DONE);
  });

  it('works without an agent where the store opens with a secret', async () => {
    expect(await opened(owner, identity, inFile(await wrapped(owner, recipient)))).toBe(FOUND);
  });

  it('opens what was written for an older version, and writes for the latest', async () => {
    const old = inFile(await wrapped(place, recipient));
    await place.ok('transit keys rotate inbox');
    expect(await opened(place, identity, old)).toBe(FOUND);
    await place.ok('transit keys config inbox --min-decryption-version 2');
    expect(await opened(place, identity, old)).toBe(DONE);
    expect(await opened(place, identity, inFile(await wrapped(place, recipient)))).toBe(FOUND);
  });

  it('offers only keys that age has, and only those that were named', async () => {
    expect(await place.refused('agent offer app --age', 2)).toContain(
      'age does not support keys of type aes256-gcm96',
    );
    const made = inFile(await wrapped(place, recipient));
    await place.ok('agent withdraw inbox');
    expect(await opened(place, identity, made)).toMatch(/^-> error identity 0\n/);
    expect(await wrapped(place, recipient)).toMatch(/^-> error recipient 0\n[\w+/\n]+-> done\n\n$/);
    expect(await place.json('agent offer inbox --age')).toMatchObject({ recipient, identity });
    expect(await opened(place, identity, made)).toBe(FOUND);
  });

  it('refuses a stanza that is not as it should be', async () => {
    const made = inFile(await wrapped(place, recipient));
    expect(await opened(place, identity, made.replace(/\n[\w+/]{43}\n/, '\nAAAA\n'))).toMatch(
      /^-> error internal\n/,
    );
    expect(await opened(place, recipient, made)).toMatch(/^-> error identity 0\n/);
  });

  it('is is run by age', async () => {
    expect(await place.spawned.refused('age-plugin', 2)).toContain('is run by age');
    expect((await plugin(place, 'identity-v1', 'done\n')).stdout).toBe('');
  });

  it('says that the store is locked, and asks through age', async () => {
    await place.ok('lock');
    const passphrase = placeForAgents();
    try {
      const secret = { environment: { COFFER_PASSPHRASE: 'correct horse battery staple' } };
      await passphrase.ok('init', secret);
      await passphrase.ok('transit keys create inbox --type x25519', secret);
      await passphrase.ok('agent offer inbox --age', secret);
      const made = inFile(await wrapped(passphrase.with(secret.environment), recipient));
      const asked = (
        await plugin(
          passphrase,
          'identity-v1',
          stanza(`add-identity ${identity}`) +
            made.replace('-> ', '-> recipient-stanza 0 ') +
            DONE +
            stanza('ok', unpadded(Buffer.from(secret.environment.COFFER_PASSPHRASE))) +
            stanza('ok no') +
            OK,
        )
      ).stdout;
      expect(asked).toMatch(/^-> request-secret\n/);
      expect(asked.endsWith(FOUND)).toBe(true);
      const refused = (
        await plugin(
          passphrase,
          'identity-v1',
          stanza(`add-identity ${identity}`) +
            made.replace('-> ', '-> recipient-stanza 0 ') +
            DONE +
            stanza('fail') +
            OK,
        )
      ).stdout;
      expect(refused).toMatch(/-> error internal\n/);
    } finally {
      leave(passphrase);
    }
  });
});
