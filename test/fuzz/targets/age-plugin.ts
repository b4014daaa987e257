import { openAgeDoor } from '../../../src/doors/agent/age/age-door.ts';
import { pluginIdentity, pluginRecipient } from '../../../src/doors/agent/age/names.ts';
import type { Desk } from '../../../src/doors/agent/desk.ts';
import { denied } from '../../../src/ground/errors.ts';
import { printStanza } from '../../../src/transit/envelope/age/header.ts';
import { ageRecipient } from '../../../src/transit/envelope/age/recipients.ts';
import { printBech32 } from '../../../src/transit/key-types/age/bech32.ts';
import { x25519Kem } from '../../../src/transit/key-types/age/x25519.ts';
import type { Chance } from '../../chance.ts';
import { Connected } from '../../doors/agent/connected.ts';
import { shorterBytes, spoiledBytes } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';

/** What age says to its plugin, whole conversations with answers that don't wait. */

const secret = Buffer.alloc(32, 9);
const publicKey = x25519Kem.publicOf(secret);
const recipient = printBech32('age', publicKey);
const fileKey = Buffer.alloc(16, 0x5a);
const name = { mount: 'transit', key: 'inbox' };

function deskOf(defects: unknown[]): Desk {
  return {
    offers: async () => [{ ...name, uses: ['open'], confirm: false }],
    async run(operation, raw) {
      if (raw['name'] !== name.key) throw denied('not offered');
      if (operation === 'transit keys read') return { data: { keys: { 1: { public_key: recipient } } } };
      const batch = raw['batch_input'] as readonly { readonly ciphertext: string }[];
      const results = batch.map(({ ciphertext }) => {
        const bytes = Buffer.from(ciphertext.slice(ciphertext.lastIndexOf(':') + 1), 'base64');
        const sealed = { encapsulated: bytes.subarray(0, 32), body: bytes.subarray(32) };
        const plaintext = x25519Kem.open(secret, publicKey, sealed);
        return plaintext === undefined ? { error: 'no' } : { plaintext: plaintext.toString('base64') };
      });
      return { data: { batch_results: results } };
    },
    consent: async () => undefined,
    defect: (error) => void defects.push(error),
  };
}

const stanza = (type: string, args: readonly string[] = [], body: Uint8Array = Buffer.alloc(0)): string =>
  printStanza({ type, args, body: Buffer.from(body) });

async function conversations(): Promise<readonly Buffer[]> {
  const { type, args, body } = await ageRecipient(recipient).wrap(fileKey);
  const answers = stanza('ok').repeat(3) + stanza('fail');
  const ofIdentity =
    `identity-v1\n${stanza('add-identity', [pluginIdentity(name)])}` +
    stanza('recipient-stanza', ['0', 'scrypt', 'x'], Buffer.alloc(32)) +
    stanza('recipient-stanza', ['0', type, ...args], body);
  const ofRecipient =
    `recipient-v1\n${stanza('add-recipient', [pluginRecipient(name)])}` +
    stanza('add-identity', [pluginIdentity(name)]) +
    stanza('wrap-file-key', [], fileKey) +
    stanza('extension-labels');
  return [ofIdentity, ofRecipient].map((text) => Buffer.from(`${text}${stanza('done')}${answers}`));
}

async function open(_: Chance, secrets: Secrets): Promise<World<Buffer>> {
  const whole = await conversations();
  secrets.add('the key', secret);
  return {
    generate: (chance) => spoiledBytes(chance, chance.pick(whole), whole),
    async check(bytes) {
      const defects: unknown[] = [];
      const connected = new Connected(openAgeDoor(deskOf(defects)));
      const answers = await connected.send(bytes);
      if (defects.length > 0) throw defects[0];
      const text = answers.toString('latin1');
      secrets.examine(text, 'an answer');
      const given = /^-> file-key \S*\n(.*)$/m.exec(text)?.[1];
      if (given !== undefined && given !== fileKey.toString('base64').replace(/=+$/, '')) {
        throw new Defect('a changed stanza opens to another key');
      }
    },
    print: (bytes) => bytes.toString('base64'),
    simpler: shorterBytes,
    close: () => undefined,
  };
}

export const agePlugin = target<Buffer>({ name: 'age-plugin', cases: 5_000, open });
