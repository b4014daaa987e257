import { deflateRawSync, gzipSync } from 'node:zlib';
import { systemRandom } from '../../../src/ground/random.ts';
import { backupKey } from '../../../src/transit/backup/backup-key.ts';
import { restoreKey } from '../../../src/transit/backup/restore-key.ts';
import { decrypt } from '../../../src/transit/decrypt.ts';
import { encrypt } from '../../../src/transit/encrypt.ts';
import { type Engine, engineOf } from '../../../src/transit/engine.ts';
import { exportKey } from '../../../src/transit/export.ts';
import { hmac } from '../../../src/transit/hmac.ts';
import { listKeys } from '../../../src/transit/lifecycle.ts';
import { keyRef } from '../../../src/transit/named-key.ts';
import { sign } from '../../../src/transit/signing.ts';
import type { Chance } from '../../chance.ts';
import { memoryStore } from '../../store/memory-store.ts';

import { goKeys } from '../go-keys.ts';
import { anyText, shorterTexts, spoiledBytes, spoiledText, swollenText } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { unchanged } from '../store-content.ts';
import { Defect, target, type World } from '../target.ts';
import { parseValue, printValue, spoiledDeeply } from '../values.ts';

interface Restoring {
  readonly backup: string;
  readonly name: string | undefined;
}

const jsonOf = (backup: string): string => Buffer.from(backup, 'base64').toString();
const isSlow = (type: string): boolean => type.startsWith('rsa');
/** A version is enough: the eleven of some keys would only be more of the same. */
const documents = goKeys
  .map(({ type, backup }) => ({ type, json: jsonOf(backup) }))
  .map(({ type, json }) => ({ type, json, value: parseValue(json) }));
const quick = documents.filter(({ type }) => !isSlow(type));
const slow = documents.filter(({ type }) => isSlow(type));
const jsons = documents.map(({ json }) => json);

const LONG_ONE_IN = 3_000;

function generate(chance: Chance): Restoring {
  const { json, value } = chance.pick(chance.oneIn(15) ? slow : quick);
  const way = chance.below(12);
  const name = chance.oneIn(6) ? anyText(chance) : undefined;
  if (chance.oneIn(LONG_ONE_IN))
    return { backup: encoded(swollenText(chance, json, chance.below(3_000_000))), name };
  if (way < 7) return { backup: encoded(printValue(spoiledDeeply(chance, value))), name };
  if (way < 10) return { backup: encoded(spoiledText(chance, json, jsons)), name };
  if (way === 10) return { backup: spoiledText(chance, encoded(json).slice(0, 200)), name };
  return { backup: compressed(chance, json), name };
}

const encoded = (text: string): string => Buffer.from(text).toString('base64');

function compressed(chance: Chance, json: string): string {
  const packed = chance.oneIn(8) ? deflateRawSync(json) : gzipSync(json);
  const spoiled = chance.oneIn(2) ? spoiledBytes(chance, packed) : packed;
  return Buffer.concat([Buffer.from(chance.pick(['G', 'G', 'G', 'L', 'S', '4', '{'])), spoiled]).toString(
    'base64',
  );
}

async function open(_chance: Chance, secrets: Secrets): Promise<World<Restoring>> {
  const clock = { now: () => 1_772_352_000_500 };
  const store = await memoryStore({ clock });
  const mount = { type: 'transit', path: 'transit', description: '', accessor: 'a', uuid: 'u', options: {} };
  const engine = engineOf({ store, clock, random: systemRandom, mount, dialect: 'service' });
  for (const key of keysIn(documents.map(({ value }) => value))) secrets.add('a key', key);
  await restoreKey(engine, { backup: encoded(jsons[0] ?? ''), name: 'other', force: false });
  const requireUnchanged = await unchanged(store);
  let restored = false;
  const before = await store.revision();
  let revision = before;
  return {
    generate,
    async check({ backup, name }) {
      const outcome = await secrets.outcome(() => restoreKey(engine, { backup, force: false, name }));
      if ('refused' in outcome) {
        if ((await store.revision()) !== revision) throw new Defect('a refused backup has changed the store');
        return;
      }
      restored = true;
      await use(engine, outcome.value.document.name, secrets);
      revision = await store.revision();
    },
    print: (input) => JSON.stringify(input),
    *simpler({ backup, name }) {
      for (const json of shorterTexts(jsonOf(backup))) yield { backup: encoded(json), name };
    },
    async close() {
      if (!restored) await requireUnchanged();
      const names = await listKeys(engine, {});
      if (names.join() !== 'other') throw new Defect(`keys were left behind: ${names.join(', ')}`);
      store.close();
    },
  };
}

/** Whatever was restored can be used, or refuses it in plain words; and then it is deleted. */
async function use(engine: Engine, name: string, secrets: Secrets): Promise<void> {
  const plaintext = Buffer.from('hostile').toString('base64');
  const context = 'AAAA';
  const nonce = 'AAAAAAAAAAAAAAAA';
  const signing = {
    hashAlgorithm: 'sha2-256',
    prehashed: false,
    signatureAlgorithm: '',
    marshalingAlgorithm: 'asn1',
  };
  const item = { plaintext, context, nonce, keyVersion: 0 };
  const options = { type: '', convergentEncryption: false, mayCreate: false, mayUpdate: true };
  await secrets.outcome(async () => {
    const [sealed] = await encrypt(engine, name, [item], options);
    if (sealed === undefined || 'error' in sealed) return;
    const [opened] = await decrypt(engine, name, [{ ciphertext: sealed.value.ciphertext, context, nonce }]);
    if (opened !== undefined && 'value' in opened && opened.value.toString() !== 'hostile') {
      throw new Defect('a restored key does not decrypt what it encrypted');
    }
  });
  await secrets.outcome(() =>
    sign(engine, name, [{ input: plaintext, context }], { ...signing, saltLength: 'auto', keyVersion: 0 }),
  );
  await secrets.outcome(() =>
    hmac(engine, name, [{ input: plaintext }], { algorithm: 'sha2-256', keyVersion: 0 }),
  );
  for (const kind of ['encryption-key', 'signing-key', 'hmac-key', 'public-key', 'certificate-chain']) {
    await secrets.outcome(() => exportKey(engine, name, { kind, version: '', format: '' }));
  }
  await secrets.outcome(() => backupKey(engine, name));
  await engine.store.transact((tx) => tx.delete(keyRef(engine, name)));
}

/** The secret parts of documents: `key` and `hmac_key`. */
function keysIn(value: unknown): Buffer[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    (name === 'key' || name === 'hmac_key') && typeof member === 'string'
      ? [Buffer.from(member, 'base64')]
      : keysIn(member),
  );
}

export const keyBackups = target<Restoring>({ name: 'key-backups', cases: 6_000, open });
