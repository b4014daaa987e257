import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { wiping } from '../ground/bytes.ts';
import { madeOnce } from '../ground/objects.ts';
import type { Random } from '../ground/random.ts';
import type { Store, Transaction, View } from '../store/store.ts';

/** Keys of access control as stored in the sealed store, base64. */
interface KeysDocument {
  readonly tokens: string;
  readonly audit: string;
}

/** Two HMAC-SHA-256 keys: one names tokens, the other hides values in the audit log. */
interface AccessKeys {
  readonly tokens: KeyObject;
  readonly audit: KeyObject;
}

const KEYS = { collection: 'access/keys', id: 'hmac-sha256' } as const;
const KEY_BYTES = 32;

const parsed = new WeakMap<KeysDocument, AccessKeys>();

/** Reads the keys; undefined if no token was created and no audit record written yet. */
export async function readAccessKeys(view: View): Promise<AccessKeys | undefined> {
  const document = await view.get<KeysDocument>(KEYS);
  return document === undefined ? undefined : parse(document);
}

/** Reads the keys; creates and stores them on first use. */
export async function ensureAccessKeys(store: Store, random: Random): Promise<AccessKeys> {
  return (await store.read(readAccessKeys)) ?? store.transact((tx) => putAccessKeys(tx, random));
}

/** Like `ensureAccessKeys`, as part of a larger transaction. */
export async function putAccessKeys(tx: Transaction, random: Random): Promise<AccessKeys> {
  const known = await readAccessKeys(tx);
  if (known !== undefined) return known;
  const document = { tokens: freshKey(random), audit: freshKey(random) };
  tx.put(KEYS, document);
  return parse(document);
}

const parse = (document: KeysDocument): AccessKeys =>
  madeOnce(parsed, document, () => ({
    tokens: secretKey(document.tokens),
    audit: secretKey(document.audit),
  }));

const secretKey = (base64: string): KeyObject => wiping(Buffer.from(base64, 'base64'), createSecretKey);

const freshKey = (random: Random): string =>
  wiping(random.bytes(KEY_BYTES), (bytes) => bytes.toString('base64'));

/** Computes HMAC-SHA-256 of a text, in hex. */
export const keyedHash = (key: KeyObject, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex');
