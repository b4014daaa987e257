import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { systemRandom } from '../../../src/ground/random.ts';
import { readBackup } from '../../../src/transit/backup/restore-key.ts';
import {
  unwrapFromTransport,
  unwrapPadded,
  wrapForTransport,
  wrapPadded,
} from '../../../src/transit/key-exchange/wrapping.ts';
import { keyTypes } from '../../../src/transit/key-types/index.ts';
import { keyOf } from '../../../src/transit/key-types/key-pair.ts';
import type { KeyType, StoredMaterial } from '../../../src/transit/key-types/key-type.ts';
import type { Chance } from '../../chance.ts';
import { goKeys, secretPart } from '../go-keys.ts';
import { shorterBytes, spoiledBytes, spoiledText } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';

/** Key material from outside, in one of the forms in which it comes. */
interface Incoming {
  readonly form: 'secret' | 'public' | 'padded' | 'wrapped';
  readonly type: string;
  readonly bytes: Buffer;
}

const WRAPPED_ONE_IN = 150;
const kek = Buffer.alloc(32, 7);
const types = new Map(keyTypes().map((type) => [type.name, type]));
/** Verifying and signing with others takes too long to be tried often. */
const USED = /^(?:aes|chacha|xchacha|ed25519|ecdsa-p256|hmac)/;

async function open(_chance: Chance, secrets: Secrets): Promise<World<Incoming>> {
  const materials = await knownMaterials();
  const wrapping = keyOf(materials.find(({ type }) => type === 'rsa-4096')?.stored ?? {});
  const secretsKnown = materials.map(({ stored }) => Buffer.from(stored.secret ?? '', 'base64'));
  for (const secret of secretsKnown) secrets.add('an imported key', secretPart(secret));
  const publicKeys = materials.flatMap(({ stored }) =>
    stored.publicKey === undefined ? [] : [pemOf(stored.publicKey)],
  );
  const padded = secretsKnown.filter(({ length }) => length > 0).map((secret) => wrapPadded(kek, secret));
  const wrapped = [32, 121].map((length) =>
    wrapForTransport(createPublicKey(wrapping), 'SHA256', Buffer.alloc(length, 9), systemRandom),
  );
  return {
    generate(chance) {
      const type = chance.pick(materials).type;
      if (chance.oneIn(WRAPPED_ONE_IN)) {
        return { form: 'wrapped', type, bytes: spoiledBytes(chance, chance.pick(wrapped), wrapped) };
      }
      switch (chance.below(6)) {
        case 0:
          return { form: 'padded', type, bytes: spoiledBytes(chance, chance.pick(padded), padded) };
        case 1:
        case 2:
          return {
            form: 'public',
            type,
            bytes: Buffer.from(spoiledText(chance, chance.pick(publicKeys), publicKeys)),
          };
        default:
          return {
            form: 'secret',
            type,
            bytes: spoiledBytes(chance, chance.pick(secretsKnown), secretsKnown),
          };
      }
    },
    async check({ form, type, bytes }) {
      const keyType = types.get(type);
      if (keyType === undefined) return;
      if (form === 'padded')
        requireGenuine(
          secrets.outcomeNow(() => unwrapPadded(kek, bytes)),
          padded,
          bytes,
        );
      else if (form === 'wrapped')
        await secrets.outcome(() => unwrapFromTransport(wrapping, 'sha256', bytes));
      else if (form === 'public')
        await checkImport(keyType, () => keyType.importing?.publicKey?.(bytes.toString()), secrets);
      else await checkImport(keyType, () => keyType.importing?.secret(bytes), secrets);
    },
    print: ({ form, type, bytes }) => `${form} ${type} ${bytes.toString('hex')}`,
    *simpler(input) {
      for (const bytes of shorterBytes(input.bytes)) yield { ...input, bytes };
    },
    close: () => undefined,
  };
}

/** Keys of all types that peers know, and of those that they do not, each once. */
async function knownMaterials(): Promise<{ type: string; stored: StoredMaterial }[]> {
  const materials = new Map<string, StoredMaterial>();
  for (const { type, backup } of goKeys) {
    const { versions } = await readBackup(backup, undefined, systemRandom);
    const [version] = Object.values(versions);
    if (version?.secret !== undefined) materials.set(type, version);
  }
  for (const algorithm of ['ecdsa-secp256k1', 'ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87', 'slh-dsa-sha2-128f']) {
    const made = await types.get(algorithm)?.generate(systemRandom, 0);
    if (made !== undefined) materials.set(algorithm, made);
  }
  // Types that no key here has: the wrong curve, the wrong algorithm.
  for (const { privateKey } of [
    generateKeyPairSync('ec', { namedCurve: 'brainpoolP256r1' }),
    generateKeyPairSync('x25519'),
  ]) {
    const der = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    materials.set(`foreign ${privateKey.asymmetricKeyType}`, { secret: der });
  }
  return [...materials].map(([type, stored]) => ({ type, stored }));
}

const pemOf = (publicKey: string): string =>
  `-----BEGIN PUBLIC KEY-----\n${publicKey.replaceAll(/.{64}/g, '$&\n')}\n-----END PUBLIC KEY-----\n`;

type Unwrapped = ReturnType<typeof Secrets.prototype.outcomeNow<Buffer>>;

function requireGenuine(outcome: Unwrapped, genuine: readonly Buffer[], bytes: Buffer): void {
  if ('value' in outcome && !genuine.some((one) => one.equals(bytes)))
    throw new Defect('a changed wrapping was opened');
}

/** What is taken can be kept, shown, and used: or refuses its use in plain words. */
async function checkImport(
  type: KeyType,
  read: () => StoredMaterial | Promise<StoredMaterial> | undefined,
  secrets: Secrets,
): Promise<void> {
  const outcome = await secrets.outcome(read);
  if ('refused' in outcome || outcome.value === undefined) return;
  const stored = outcome.value;
  const material = type.open(stored);
  await secrets.outcome(() => type.publicKey?.print(material));
  await secrets.outcome(() => type.backup.write(stored));
  if (stored.secret === undefined) return;
  await secrets.outcome(() => type.exportSecret?.(material, ''));
  if (USED.test(type.name)) await use(type, material, secrets);
}

const message = Buffer.from('message');
const options = {
  hash: 'sha2-256',
  prehashed: false,
  signatureAlgorithm: '',
  marshaling: 'asn1',
  saltLength: 'auto',
} as const;

async function use({ name, aead, signing }: KeyType, material: unknown, secrets: Secrets): Promise<void> {
  await secrets.outcome(async () => {
    const cipher = await aead?.cipher(material);
    cipher?.encrypt(Buffer.alloc(aead?.nonceBytes ?? 0), message);
    const signature = await signing?.sign(material, message, options, systemRandom);
    if (signature === undefined) return;
    if ((await signing?.verify(material, message, signature, options)) !== true) {
      throw new Defect(`an imported ${name} key does not verify what it signed`);
    }
  });
}

export const imports = target<Incoming>({ name: 'imports', cases: 20_000, open });
