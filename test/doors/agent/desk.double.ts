import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Offer } from '../../../src/access/doors.ts';
import type { Desk } from '../../../src/doors/agent/desk.ts';
import { denied, invalid } from '../../../src/ground/errors.ts';

/** A key of a store that is not there. */
export interface DoubleKey {
  readonly name: string;
  readonly key: KeyObject;
  readonly type: string;
}

/** Made once: keys of RSA take long. */
export const doubleKeys: readonly DoubleKey[] = [
  { name: 'ed', type: 'ed25519', key: generateKeyPairSync('ed25519').privateKey },
  { name: 'ec', type: 'ecdsa-p256', key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
  { name: 'rsa', type: 'rsa-2048', key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey },
];

export const publicText = ({ key }: DoubleKey): string =>
  createPublicKey(createPrivateKey(key.export({ type: 'pkcs8', format: 'pem' })))
    .export({ type: 'spki', format: 'pem' })
    .toString();

const texts = new Map(doubleKeys.map((key) => [key.name, publicText(key)]));

export interface DeskDouble extends Desk {
  /** Defects that the door has found in itself. */
  readonly defects: readonly unknown[];
  /** What was asked of whom. */
  readonly asked: readonly string[];
  /** For whom what is offered was looked up: 'quietly' where nobody is to be asked to unlock the store. */
  readonly looks: readonly ('quietly' | undefined)[];
}

/** A desk with a key of each kind, that answers as the transit engine does. */
export function deskDouble(uses: readonly string[], answer = true): DeskDouble {
  const defects: unknown[] = [];
  const asked: string[] = [];
  const looks: ('quietly' | undefined)[] = [];
  const offers: readonly Offer[] = doubleKeys.map(({ name }) => ({
    mount: 'transit',
    key: name,
    uses,
    confirm: name === 'ec',
  }));
  return {
    defects,
    asked,
    looks,
    async offers(how) {
      looks.push(how);
      return offers;
    },
    async run(operation, raw, mount) {
      const found = doubleKeys.find(({ name }) => name === raw['name']);
      if (found === undefined || mount !== 'transit') throw denied('not offered');
      if (operation === 'transit keys read') {
        const keys = { 1: { public_key: texts.get(found.name) } };
        return {
          data: { type: found.type, derived: false, latest_version: 1, min_encryption_version: 0, keys },
        };
      }
      if (raw['key_version'] !== 1) throw invalid('no such key version');
      const input = Buffer.from(String(raw['input']), 'base64');
      const hash = raw['algorithm'] === undefined ? null : String(raw['algorithm']).replace('sha2-', 'sha');
      const made = sign(hash, input, { key: found.key, dsaEncoding: 'ieee-p1363' });
      return { data: { signature: `service:v1:${made.toString('base64')}`, key_version: 1 } };
    },
    async consent({ confirm }, what) {
      if (confirm) asked.push(what);
      if (confirm && !answer) throw denied('denied');
    },
    defect: (error) => void defects.push(error),
  };
}
