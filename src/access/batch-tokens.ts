/**
 * Batch tokens: they are not stored, because their text contains all data, sealed.
 * @see docs/decisions/0185
 */

import { hash, type KeyObject } from 'node:crypto';
import { lengthPrefixed, utf8 } from '../ground/bytes.ts';
import { CofferError } from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import { openOnce, sealOnce } from '../store/single-use-seal.ts';
import type { Transaction, View } from '../store/store.ts';
import {
  BATCH_PREFIX,
  couldBeBatchToken,
  MAX_BATCH_TOKEN_LENGTH,
  MAX_TTL_SECONDS,
  type Token,
} from './token.ts';
import { holds, type LiveToken } from './token-documents.ts';

const PURPOSE = 'batch tokens';
/** Format byte, the first one after the prefix. */
const FORMAT = 1;
const SALT_BYTES = 32;
const HEAD_BYTES = 1 + SALT_BYTES;

/**
 * Maximum size of the cache of opened tokens, in characters of their texts; when it is reached, the cache is cleared.
 */
const MAX_OPENED_LENGTH = 4 * 1024 * 1024;

/** Record of revoked batch tokens: those of a path that were created before an epoch. */
const ENDED = { collection: 'access/batch-tokens', id: 'ended' } as const;
/** Maximum number of paths in it. Beyond, all existing batch tokens are revoked: better too many than one too few. */
const MAX_ENDED = 1000;

interface EndedDocument {
  /** Increases with each change. New tokens have the latest epoch, so that the order does not depend on clocks. */
  readonly epoch: number;
  readonly paths: readonly EndedPath[];
}

interface EndedPath {
  /** Path with a final slash, or empty for all. */
  readonly prefix: string;
  /** First epoch whose tokens are valid. */
  readonly epoch: number;
}

/** Sealed content, with short names because it is sent with every request. Times in seconds. */
interface SealedToken {
  /** Display name. */
  readonly n: string;
  /** Policies. */
  readonly p: readonly string[];
  /** Path. */
  readonly a: string;
  /** Creation time. */
  readonly c: number;
  readonly ttl: number;
  /** Epoch. */
  readonly e: number;
  readonly meta?: Token['meta'] | undefined;
  /** Parent token, and what distinguishes it from others with the same text. */
  readonly by?: string | undefined;
  readonly bys?: string | undefined;
  readonly cidrs?: readonly string[] | undefined;
  /** Role of `auth/token`. */
  readonly r?: string | undefined;
  /** Mount of the login method. */
  readonly m?: string | undefined;
  /** Last move of this mount. */
  readonly mv?: string | undefined;
}

interface OpenedBatchToken {
  readonly token: Token;
  readonly epoch: number;
}

/** Batch tokens of a store. */
export class BatchTokens {
  readonly #storeId: string;
  readonly #random: Random;
  /** Cache by a hash of the text; a rekey changes the key. */
  readonly #opened = new Map<string, OpenedBatchToken>();
  #openedLength = 0;
  #openedBy: KeyObject | undefined;

  constructor(storeId: string, random: Random) {
    this.#storeId = storeId;
    this.#random = random;
  }

  /**
   * Creates the text of a token. Writes nothing.
   * @throws `too-large` for one that would not fit into a header
   */
  async seal(view: View, token: Token): Promise<string> {
    const { epoch } = await endedIn(view);
    const salt = this.#random.bytes(SALT_BYTES);
    const sealed = sealOnce(
      this.#context(view.key(PURPOSE), salt),
      utf8(JSON.stringify(packed(token, epoch))),
      Uint8Array.of(FORMAT),
      salt,
    );
    const text = BATCH_PREFIX + sealed.toString('base64url');
    if (text.length <= MAX_BATCH_TOKEN_LENGTH) return text;
    throw new CofferError(
      'too-large',
      `the batch token would be longer than ${MAX_BATCH_TOKEN_LENGTH} characters`,
      { field: 'meta', hint: 'use less metadata or fewer policies, or create a service token' },
    );
  }

  /** Opens a token; undefined if it is not valid. */
  async find(view: View, text: string, nowMs: number): Promise<LiveToken | undefined> {
    const opened = this.#open(view.key(PURPOSE), text);
    if (opened === undefined) return undefined;
    const { token, epoch } = opened;
    const { paths } = await endedIn(view);
    if (paths.some((ended) => epoch < ended.epoch && isBelow(token.path, ended.prefix))) return undefined;
    const held = await holds(view, token, nowMs);
    return held && { accessor: '', token, ...held };
  }

  #open(key: KeyObject, text: string): OpenedBatchToken | undefined {
    if (!couldBeBatchToken(text)) return undefined;
    if (this.#openedBy !== key) this.#forget(key);
    const name = hash('sha256', text, 'base64url');
    const known = this.#opened.get(name);
    if (known !== undefined) return known;
    const bytes = Buffer.from(text.slice(BATCH_PREFIX.length), 'base64url');
    // A token must have exactly one text, so that a hash of the text identifies it.
    if (bytes[0] !== FORMAT || BATCH_PREFIX + bytes.toString('base64url') !== text) return undefined;
    const plain = openOnce(this.#context(key, bytes.subarray(1, HEAD_BYTES)), bytes.subarray(HEAD_BYTES));
    if (plain === undefined) return undefined;
    const opened = unpacked(JSON.parse(plain.toString()) as SealedToken);
    if (this.#openedLength + text.length > MAX_OPENED_LENGTH) this.#forget(key);
    this.#openedLength += text.length;
    this.#opened.set(name, opened);
    return opened;
  }

  #forget(key: KeyObject): void {
    this.#opened.clear();
    this.#openedLength = 0;
    this.#openedBy = key;
  }

  #context(secret: KeyObject, salt: Uint8Array) {
    return {
      secret,
      salt,
      purpose: 'coffer/1/batch token',
      associatedData: lengthPrefixed('coffer/1/batch token', this.#storeId),
    };
  }
}

/**
 * Revokes every batch token that was created before this change at a path or below it.
 * @param path without slashes at its ends; empty for all
 */
export async function endBatchTokens(tx: Transaction, path: string, nowMs: number): Promise<void> {
  const before = await endedIn(tx);
  // Using the time ensures that no epoch is reused after a rollback of the store.
  const epoch = Math.max(before.epoch + 1, nowMs);
  const prefix = path === '' ? '' : `${path}/`;
  const others = before.paths.filter(
    (ended) => !ended.prefix.startsWith(prefix) && ended.epoch > nowMs - MAX_TTL_SECONDS * 1000,
  );
  const paths = others.length < MAX_ENDED ? [...others, { prefix, epoch }] : [{ prefix: '', epoch }];
  tx.put(ENDED, { epoch, paths } satisfies EndedDocument);
}

const NOTHING_ENDED: EndedDocument = { epoch: 0, paths: [] };

const endedIn = async (view: View): Promise<EndedDocument> =>
  (await view.get<EndedDocument>(ENDED)) ?? NOTHING_ENDED;

const isBelow = (path: string, prefix: string): boolean => `${path}/`.startsWith(prefix);

function packed(token: Token, epoch: number): SealedToken {
  const { displayName, policies, path, meta, createdMs, creationTtl, parent, parentSerial } = token;
  return {
    n: displayName,
    p: policies,
    a: path,
    c: createdMs / 1000,
    ttl: creationTtl,
    e: epoch,
    meta: meta ?? undefined,
    by: parent,
    bys: parentSerial,
    cidrs: token.boundCidrs,
    r: token.role,
    m: token.login?.mount,
    mv: token.login?.moved,
  };
}

function unpacked(sealed: SealedToken): OpenedBatchToken {
  const { n, p, a, c, ttl, e, meta = null, by, bys, cidrs, r, m, mv } = sealed;
  const createdMs = c * 1000;
  const token: Token = {
    kind: 'batch',
    displayName: n,
    policies: p,
    path: a,
    meta,
    createdMs,
    creationTtl: ttl,
    expiresMs: createdMs + ttl * 1000,
    renewable: false,
    explicitMaxTtl: 0,
    period: 0,
    parent: by,
    parentSerial: bys,
    boundCidrs: cidrs,
    role: r,
    login: m === undefined ? undefined : { mount: m, moved: mv },
  };
  return { token, epoch: e };
}
