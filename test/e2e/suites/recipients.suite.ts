import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import {
  armor,
  Decrypter,
  Encrypter,
  generateHybridIdentity,
  generateX25519Identity,
  identityToRecipient,
} from 'age-encryption';
import { expect, it } from 'vitest';
import { makeSshKey } from '../ssh-keys.ts';
import type { Suite } from './index.ts';

const CHUNK = 65_536;
const TAG = 16;
const KINDS = [
  { type: 'x25519', makeIdentity: generateX25519Identity },
  { type: 'mlkem768-x25519', makeIdentity: generateHybridIdentity },
  { type: 'p256', makeIdentity: generateX25519Identity },
  { type: 'mlkem768-p256', makeIdentity: generateHybridIdentity },
];

/** What an implementation of age that is not ours reads. */
async function openedByAge(identity: string, bytes: Uint8Array): Promise<Buffer> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return Buffer.from(await decrypter.decrypt(bytes));
}

async function sealedByAge(bytes: Uint8Array, ...recipients: readonly string[]): Promise<Uint8Array> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return encrypter.encrypt(bytes);
}

export const recipientsSuite: Suite = (here) => {
  const file = (name: string, content: string | Uint8Array): void => {
    writeFileSync(here().file(name), content);
    chmodSync(here().file(name), 0o600);
  };
  const read = (name: string): Buffer => readFileSync(here().file(name));
  const publicOf = async (name: string): Promise<string> =>
    (await here().ok(`transit keys public ${name} --format age`)).trim();
  const sshKey = (name: string, type: string): void => {
    makeSshKey(here().file(name), type, name);
  };

  it.each(KINDS)(
    'go to age and come from age, for a key of the type $type',
    async ({ type, makeIdentity }) => {
      const name = `inbox-${type}`;
      await here().ok(`transit keys create ${name} --type ${type}`);
      const identity = await makeIdentity();
      const content = randomBytes(3 * CHUNK + 5);
      file('plain', content);
      file('friend.txt', `# a friend\n${await identityToRecipient(identity)}\n`);
      await here().ok(
        `transit envelope encrypt --recipient ${name} @friend.txt --in plain --out sealed.age --force`,
      );
      expect((await openedByAge(identity, read('sealed.age'))).equals(content)).toBe(true);
      await here().ok(`transit envelope decrypt ${name} --in sealed.age --out opened --force`);
      expect(read('opened').equals(content)).toBe(true);
      file(
        'sent.age',
        await sealedByAge(content, await identityToRecipient(await makeIdentity()), await publicOf(name)),
      );
      await here().ok('transit envelope decrypt --in sent.age --out opened --force');
      expect(read('opened').equals(content)).toBe(true);
      file('sent.txt', armor.encode(await sealedByAge(content, await publicOf(name))));
      await here().ok('transit envelope decrypt --in sent.txt --out opened --force');
      expect(read('opened').equals(content)).toBe(true);
      await here().ok(
        'transit envelope decrypt --in sent.age --offset 65530 --length 12 --out opened --force',
      );
      expect(read('opened').equals(content.subarray(65_530, 65_542))).toBe(true);
    },
  );

  it('open for two of three people after a rewrap, and not for the third', async () => {
    await here().ok('transit keys create shared --type x25519');
    sshKey('anna', 'ed25519');
    const [berta, carl] = await Promise.all([generateX25519Identity(), generateX25519Identity()]);
    file('plain', 'for three of us\n');
    file(
      'all.txt',
      `${read('anna.pub')}${await identityToRecipient(berta)}\n${await identityToRecipient(carl)}\n`,
    );
    file('two.txt', `${read('anna.pub')}${await identityToRecipient(berta)}\n`);
    await here().ok('transit envelope encrypt --recipient @all.txt shared --in plain --out three.age');
    const body = read('three.age').subarray(-(16 + TAG + 16));
    for (const identity of [berta, carl]) {
      expect((await openedByAge(identity, read('three.age'))).toString()).toBe('for three of us\n');
    }
    await here().ok('transit envelope rewrap shared --in three.age --recipient @two.txt shared');
    expect(read('three.age').subarray(-(16 + TAG + 16))).toEqual(body);
    expect((await openedByAge(berta, read('three.age'))).toString()).toBe('for three of us\n');
    expect((await here().ok('transit envelope decrypt --identity anna --in three.age')).trim()).toBe(
      'for three of us',
    );
    await expect(openedByAge(carl, read('three.age'))).rejects.toThrow();
    file('carl.txt', `${carl}\n`);
    expect(await here().run('transit envelope decrypt --identity carl.txt --in three.age')).toMatchObject({
      exitCode: 4,
      stdout: '',
      stderr: expect.stringContaining('no matching key for this file') as string,
    });
  });

  it('are told from our own envelopes, which no private key opens', async () => {
    await here().ok('transit keys create envelopes');
    file('identity.txt', 'AGE-SECRET-KEY-…\n');
    await here().ok('transit envelope encrypt envelopes --in identity.txt --out own.coffer');
    expect(
      await here().refused('transit envelope decrypt --identity identity.txt --in own.coffer', 2),
    ).toMatch(/^coffer: --identity is only for age files, and the input is not an age file \(/);
  });

  it('open with an older version of the key, whose rotation gives a new recipient', async () => {
    await here().ok('transit keys create turning --type x25519');
    const before = await publicOf('turning');
    file('old.age', await sealedByAge(Buffer.from('old'), before));
    await here().ok('transit keys rotate turning');
    expect(await publicOf('turning')).not.toBe(before);
    expect((await here().ok('transit keys public turning --format age --version 1')).trim()).toBe(before);
    expect((await here().ok('transit envelope decrypt turning --in old.age')).trim()).toBe('old');
    await here().ok('transit envelope rewrap turning --in old.age --recipient turning');
    await here().ok('transit keys config turning --min-decryption-version 2');
    expect((await here().ok('transit envelope decrypt turning --in old.age')).trim()).toBe('old');
    file('older.age', await sealedByAge(Buffer.from('older'), before));
    expect((await here().run('transit envelope decrypt turning --in older.age')).exitCode).toBe(4);
  });

  it.each(['ed25519', 'rsa'])('go to SSH keys of the kind %s', async (type) => {
    sshKey(`ssh-${type}`, type);
    file('plain', 'for ssh');
    await here().ok(
      `transit envelope encrypt --recipient @ssh-${type}.pub --armor --in plain --out ssh.age --force`,
    );
    expect(read('ssh.age').toString()).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----\n/);
    const opened = await here().ok(`transit envelope decrypt --identity ssh-${type} --in ssh.age`);
    expect(opened.trim()).toBe('for ssh');
  });

  it('take identities of age in, and hand them out', async () => {
    const identity = await generateX25519Identity();
    const hybrid = await generateHybridIdentity();
    file('key.txt', `# created: today\n# public key: ${await identityToRecipient(identity)}\n${identity}\n`);
    file('hybrid.txt', `${hybrid}\n`);
    await here().ok('transit import brought --type x25519 --exportable --in key.txt');
    await here().ok('transit import hybrid --type mlkem768-x25519 --in hybrid.txt');
    expect(await publicOf('brought')).toBe(await identityToRecipient(identity));
    expect(await publicOf('hybrid')).toBe(await identityToRecipient(hybrid));
    const exported = await here().ok('transit keys export brought --key-type encryption-key -o json');
    expect(exported).toContain(identity);
    expect(await here().run('transit import wrong --type x25519 --in hybrid.txt')).toMatchObject({
      exitCode: 2,
    });
    await here().ok(`transit import friend --type x25519 --public-key ${await publicOf('brought')}`);
    file('plain', 'a name for a friend');
    await here().ok('transit envelope encrypt --recipient friend --in plain --out friend.age');
    expect((await openedByAge(identity, read('friend.age'))).toString()).toBe('a name for a friend');
  });

  it('go to keys on P-256 that were made elsewhere, and are handed out as they came', async () => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const pem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    file('p256.pem', pem);
    await here().ok('transit import tagged --type p256 --exportable --in p256.pem');
    const recipient = await publicOf('tagged');
    expect(recipient).toMatch(/^age1tag1/);
    file('tagged.age', await sealedByAge(Buffer.from('for a device'), recipient));
    expect(read('tagged.age').toString('latin1')).toMatch(/\n-> p256tag [\w+/]{6} [\w+/]{87}\n/);
    expect(await here().ok('transit envelope decrypt --in tagged.age')).toBe('for a device');
    expect(createPublicKey(await here().ok('transit keys public tagged')).equals(pair.publicKey)).toBe(true);
    for (const format of ['ssh', 'allowed-signers']) {
      expect(await here().refused(`transit keys public tagged --format ${format}`, 2)).toContain(
        'SSH does not support keys of this type',
      );
    }
    const exported = await here().ok('transit keys export tagged --key-type encryption-key -o json');
    expect(JSON.parse(exported)).toMatchObject({ keys: { 1: pem.trim() } });
    await here().ok(`transit import gadget --type p256 --public-key ${recipient}`);
    file('plain', 'a name for a device');
    await here().ok('transit envelope encrypt --recipient gadget --in plain --out gadget.age');
    expect(await here().ok('transit envelope decrypt tagged --in gadget.age')).toBe('a name for a device');
    await here().ok('transit keys create elsewhere --type p256');
    expect(await here().run('transit envelope decrypt elsewhere --in gadget.age')).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('no matching key for this file') as string,
    });
  });

  it('show the kinds of their recipients', async () => {
    await here().ok('transit keys create looked --type x25519');
    file('seen.age', await sealedByAge(randomBytes(CHUNK + 1), await publicOf('looked')));
    for (const verify of ['', ' --verify']) {
      const shown: unknown = JSON.parse(
        await here().ok(`transit envelope header looked --in seen.age -o json${verify}`),
      );
      expect(shown).toMatchObject({
        format: 'age',
        recipients: [{ type: 'X25519' }],
        size: CHUNK + 1,
        verified: verify !== '',
      });
    }
  });

  it('that are damaged are refused, with nothing in their place', async () => {
    await here().ok('transit keys create hurt --type x25519');
    const whole = Buffer.from(await sealedByAge(randomBytes(3 * CHUNK), await publicOf('hurt')));
    const start = whole.length - 3 * (CHUNK + TAG);
    const chunk = (index: number): Buffer =>
      whole.subarray(start + index * (CHUNK + TAG), start + (index + 1) * (CHUNK + TAG));
    const header = whole.subarray(0, start);
    const stanza = header.toString('latin1').split('\n').slice(1, 3).join('\n');
    const changed = Buffer.from(
      header.toString('latin1').replace('-> X25519', '-> grease a\n\n-> X25519'),
      'latin1',
    );
    const many = `age-encryption.org/v1\n${`${stanza}\n`.repeat(10_000)}--- ${'A'.repeat(43)}\n`;
    const cases: readonly (readonly [content: string | Uint8Array, exitCode: number, why: string])[] = [
      [whole.subarray(0, -1), 4, 'its end is missing'],
      [whole.subarray(0, -(CHUNK + TAG)), 4, 'truncated: its end is missing'],
      [Buffer.concat([header, chunk(1), chunk(0), chunk(2)]), 4, 'chunk 0 was changed or moved'],
      [Buffer.concat([whole, chunk(2)]), 4, 'it has extra data after its end'],
      [Buffer.concat([changed, whole.subarray(start)]), 4, 'the header of the file was modified'],
      [header.subarray(0, 50), 4, 'it ends within its header'],
      [many, 4, 'it has more than 1000 recipients'],
      [`age-encryption.org/v1\n-> ${'x'.repeat(3_000_000)}`, 4, 'its header is too long'],
      ['age-encryption.org/v2\n', 1, 'another version of the age format'],
    ];
    for (const [content, exitCode, why] of cases) {
      file('damaged.age', content);
      expect(await here().run('transit envelope decrypt hurt --in damaged.age --out never')).toMatchObject({
        exitCode,
        stderr: expect.stringContaining(why) as string,
      });
      expect(existsSync(here().file('never'))).toBe(false);
    }
  });

  it('for recipients that are none are not begun', async () => {
    await here().ok('transit keys create symmetric');
    const good = await identityToRecipient(await generateX25519Identity());
    const hybrid = await identityToRecipient(await generateHybridIdentity());
    const mistyped = `${good.slice(0, 20)}${good[20] === 'q' ? 'p' : 'q'}${good.slice(21)}`;
    file('plain', 'x');
    file('list.txt', `${good}\n${mistyped}\n`);
    file('secret.txt', `${await generateX25519Identity()}\n`);
    sshKey('curve', 'ecdsa');
    const refusals: readonly (readonly [who: string, why: string])[] = [
      [mistyped, 'its checksum is wrong'],
      ['@list.txt', 'list.txt:2: invalid age key'],
      ['@secret.txt', 'this is a private key, not a recipient'],
      ['@curve.pub', 'cannot encrypt to SSH keys'],
      ['symmetric', 'cannot be a recipient: its type is aes256-gcm96'],
      ['nobody', 'nobody'],
      [`${good} ${hybrid}`, 'post-quantum and classic recipients cannot be mixed'],
      ['age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqsl5qcx', ''],
    ];
    for (const [who, why] of refusals) {
      const { exitCode, stderr } = await here().run(
        `transit envelope encrypt --recipient ${who} --in plain --out never`,
      );
      expect(exitCode, who).not.toBe(0);
      expect(stderr).toContain(why);
      expect(stderr).not.toMatch(/AGE-SECRET-KEY-1/);
      expect(existsSync(here().file('never'))).toBe(false);
    }
  });
};
