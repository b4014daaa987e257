/**
 * One operation of the engine against a bare loop of the same `node:crypto` call, per item in batches as a busy program
 * sends them. Inputs are 64 bytes; a hash, which has no batch, is of 96 KiB. The bare loop has its keys ready. It gets
 * bytes if the call accepts nothing else (signatures); ciphers, HMACs and hashes start from base64 in both, and
 * ciphertexts and HMACs end in it, since Node's own calls accept and return it.
 */
import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../src/library.ts';
import { initStore } from '../src/store/administration/init.ts';
import type { KeyTypeName } from '../src/transit/key-types/names.ts';
import { compareLoops, type Row } from './measure.ts';

const INPUT_BYTES = 64;
const LIMIT = 1.5;
const plaintext = randomBytes(INPUT_BYTES);
const input = plaintext.toString('base64');

type Coffer = Awaited<ReturnType<typeof openStore>>;

/** Number of items per batch, lower for slow signatures. */
const FAST = 1000;
const SLOW = 20;

interface SigningCase {
  readonly type: string;
  readonly items: number;
  pair(): KeyPairKeyObjectResult;
  /** Digest argument of `node:crypto`. */
  readonly digest: string | null;
  readonly options?: { readonly padding: number; readonly saltLength: number };
}

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_MAX_SIGN };
const rsa = (modulusLength: number): SigningCase => ({
  type: `rsa-${modulusLength}`,
  items: SLOW,
  pair: () => generateKeyPairSync('rsa', { modulusLength }),
  digest: 'sha256',
  options: pss,
});

const postQuantum = (type: string, items: number): SigningCase => ({
  type,
  items,
  pair: () => generateKeyPairSync(type as 'ml-dsa-44'),
  digest: null,
});

const ecdsa = (type: string, namedCurve: string, items: number): SigningCase => ({
  type,
  items,
  pair: () => generateKeyPairSync('ec', { namedCurve }),
  digest: 'sha256',
});

const SLH_DSA = [
  'slh-dsa-sha2-128s',
  'slh-dsa-sha2-128f',
  'slh-dsa-sha2-192s',
  'slh-dsa-sha2-192f',
  'slh-dsa-sha2-256s',
  'slh-dsa-sha2-256f',
] as const;

const SIGNING: readonly SigningCase[] = [
  { type: 'ed25519', items: 200, pair: () => generateKeyPairSync('ed25519'), digest: null },
  ecdsa('ecdsa-p256', 'prime256v1', 200),
  ecdsa('ecdsa-p384', 'secp384r1', SLOW),
  ecdsa('ecdsa-p521', 'secp521r1', SLOW),
  rsa(2048),
  rsa(3072),
  rsa(4096),
  ...(['ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'] as const).map((type) => postQuantum(type, SLOW)),
  ...SLH_DSA.map((type) => postQuantum(type, 1)),
];

export async function run(): Promise<readonly Row[]> {
  const directory = join(mkdtempSync(join(tmpdir(), 'coffer-bench-')), 'store');
  const masterKey = randomBytes(32);
  await initStore({ location: directory, slots: [{ kind: 'raw', key: Uint8Array.from(masterKey) }] });
  const coffer = await openStore({ location: directory, masterKey });
  try {
    const rows = [...(await symmetricRows(coffer)), ...(await digestRows(coffer))];
    for (const signing of SIGNING) rows.push(...(await signatureRows(coffer, signing)));
    return rows;
  } finally {
    coffer.close();
    rmSync(join(directory, '..'), { recursive: true, force: true });
  }
}

const repeat = <T>(times: number, item: T): T[] => Array.from({ length: times }, () => item);

const loop = (times: number, work: () => unknown) => () => {
  for (let i = 0; i < times; i++) work();
};

async function row(operation: string, items: number, ours: () => unknown, bare: () => unknown): Promise<Row> {
  const measured = await compareLoops(ours, loop(items, bare));
  return {
    operation,
    floorName: 'node:crypto',
    limit: LIMIT,
    ours: measured.ours / items,
    floor: measured.floor / items,
    ratio: measured.ratio,
  };
}

const AEADS = [
  ['aes128-gcm96', 'aes-128-gcm', 16],
  ['aes256-gcm96', 'aes-256-gcm', 32],
  ['chacha20-poly1305', 'chacha20-poly1305', 32],
] as const;

async function symmetricRows(coffer: Coffer): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [type, cipherName, keyBytes] of AEADS) {
    await coffer.transit.keys.create({ name: type, type });
    const key = createSecretKey(randomBytes(keyBytes));
    const batch = { name: type, batch_input: repeat(FAST, { plaintext: input }) };
    const [first] = (await coffer.transit.encrypt(batch)).batch_results;
    const ciphertext = first !== undefined && 'ciphertext' in first ? first.ciphertext : '';
    const sealed = sealBare(cipherName, key);
    rows.push(
      await row(
        `encrypt ${type}`,
        FAST,
        () => coffer.transit.encrypt(batch),
        () => sealBare(cipherName, key),
      ),
      await row(
        `decrypt ${type}`,
        FAST,
        () => coffer.transit.decrypt({ name: type, batch_input: repeat(FAST, { ciphertext }) }),
        () => openBare(cipherName, key, sealed),
      ),
    );
  }
  return rows;
}

function sealBare(cipherName: string, key: KeyObject): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv(cipherName as 'aes-256-gcm', key, nonce, { authTagLength: 16 });
  const sealed = [nonce, cipher.update(input, 'base64'), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(sealed).toString('base64');
}

function openBare(cipherName: string, key: KeyObject, text: string): string {
  const sealed = Buffer.from(text, 'base64');
  const options = { authTagLength: 16 };
  const decipher = createDecipheriv(cipherName as 'aes-256-gcm', key, sealed.subarray(0, 12), options);
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('base64');
}

async function digestRows(coffer: Coffer): Promise<Row[]> {
  await coffer.transit.keys.create({ name: 'mac' });
  const key = createSecretKey(randomBytes(32));
  const batch = { name: 'mac', batch_input: repeat(FAST, { input }) };
  const longInput = randomBytes(96 * 1024).toString('base64');
  return [
    await row(
      'hmac sha2-256',
      FAST,
      () => coffer.transit.hmac(batch),
      () => createHmac('sha256', key).update(input, 'base64').digest('base64'),
    ),
    await row(
      'hash sha2-256 of 96 KiB',
      1,
      () => coffer.transit.hash({ input: longInput }),
      () => createHash('sha256').update(longInput, 'base64').digest('hex'),
    ),
  ];
}

async function signatureRows(
  coffer: Coffer,
  { type, items, pair, digest, options }: SigningCase,
): Promise<Row[]> {
  await coffer.transit.keys.create({ name: type, type: type as KeyTypeName });
  const { privateKey, publicKey } = pair();
  const bare = sign(digest, plaintext, { key: privateKey, ...options });
  const batch = { name: type, batch_input: repeat(items, { input }) };
  const [first] = (await coffer.transit.sign(batch)).batch_results;
  const signature = first !== undefined && 'signature' in first ? first.signature : '';
  return [
    await row(
      `sign ${type}`,
      items,
      () => coffer.transit.sign(batch),
      () => sign(digest, plaintext, { key: privateKey, ...options }),
    ),
    await row(
      `verify ${type}`,
      items,
      () => coffer.transit.verify({ name: type, batch_input: repeat(items, { input, signature }) }),
      () => verify(digest, plaintext, { key: publicKey, ...verifyOptions(options) }, bare),
    ),
  ];
}

const verifyOptions = (options: SigningCase['options']) =>
  options === undefined ? {} : { ...options, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
