import { createHash } from 'node:crypto';
import { wipe } from '../../ground/bytes.ts';
import { denied, invalid } from '../../ground/errors.ts';
import type { Random } from '../../ground/random.ts';
import { MASTER_KEY_BYTES } from '../master-key.ts';
import type { SlotSecret } from './key-encryption.ts';

/**
 * Recovery share as text, all on one line: `coffer-share.1.<slot id>.<index>of<count>.need<threshold>.<share,
 * hex>.<checksum>`. The checksum is the first 4 bytes of the SHA-256 of everything before its dot, in hex: it
 * identifies the share with a typing error. Case and white space are ignored.
 */
const PATTERN =
  /^coffer-share\.1\.([0-9a-f]{16})\.([0-9]{1,3})of([0-9]{1,3})\.need([0-9]{1,3})\.([0-9a-f]{66})$/;
const CHECKSUM_HEX_LENGTH = 8;
const MIN = 2;
const MAX = 255;

interface ShareCounts {
  readonly count: number;
  readonly threshold: number;
}

interface RecoveryShare extends ShareCounts {
  readonly slotId: string;
  readonly index: number;
  readonly bytes: Buffer;
}

/**
 * Checks the counts.
 * @throws `invalid` unless 2 ≤ threshold ≤ count ≤ 255
 */
export function checkShareCounts({ count, threshold }: ShareCounts): void {
  const whole = Number.isSafeInteger(count) && Number.isSafeInteger(threshold);
  if (!whole || count < MIN || count > MAX) {
    throw invalid(`the number of shares must be ${MIN} to ${MAX}`, { field: 'shares' });
  }
  if (threshold < MIN || threshold > count) {
    throw invalid(`the threshold must be at least ${MIN}, and at most the number of shares, ${count}`, {
      field: 'threshold',
    });
  }
}

/** Creates a random secret, and the texts of its shares (Shamir's secret sharing). */
export async function splitNewSecret(
  slotId: string,
  { count, threshold }: ShareCounts,
  random: Random,
): Promise<{ secret: SlotSecret; shareTexts: string[] }> {
  // Loaded here because only this kind of slot needs it.
  const { split } = await import('shamir-secret-sharing');
  const bytes = random.bytes(MASTER_KEY_BYTES);
  const parts = await split(Uint8Array.from(bytes), count, threshold);
  const shareTexts = parts.map((part, i) =>
    printShare({ slotId, index: i + 1, count, threshold, bytes: Buffer.from(part) }),
  );
  wipe(...parts);
  return { secret: { kind: 'key', bytes }, shareTexts };
}

/**
 * Parses shares given in any order. Duplicates count once.
 * @returns the slot, and what combines the shares, which are enough to open it
 * @throws `invalid` naming the share (counted as given, from 1) that has an error or belongs to another slot; `denied`
 * if there are too few
 */
export function parseShares(texts: readonly string[]) {
  const shares = texts.map(parseShare);
  const [first] = shares;
  if (first === undefined) throw denied('no recovery shares given');
  const { slotId, threshold } = first;
  const stranger = shares.findIndex((share) => share.slotId !== slotId || share.threshold !== threshold);
  if (stranger !== -1) {
    throw invalid(`recovery share ${stranger + 1} belongs to a different slot`, {
      hint: 'use shares from the same set',
    });
  }
  const distinct = new Map(shares.map((share) => [share.index, share.bytes]));
  if (distinct.size < threshold) {
    throw denied(`${threshold} different recovery shares are needed, ${distinct.size} given`);
  }
  return { slotId, combine: () => combineShares([...distinct.values()]) };
}

async function combineShares(shares: readonly Buffer[]): Promise<SlotSecret> {
  const { combine } = await import('shamir-secret-sharing');
  const secret = await combine(shares.map((share) => Uint8Array.from(share)));
  return { kind: 'key', bytes: Buffer.from(secret) };
}

function printShare({ slotId, index, count, threshold, bytes }: RecoveryShare): string {
  const body = `coffer-share.1.${slotId}.${index}of${count}.need${threshold}.${bytes.toString('hex')}`;
  return `${body}.${checksum(body)}`;
}

/** How every share begins, in any case and broken into lines. */
const BEGINNING = /^coffer-share\.1\./;
const OWN_NUMBER = /^coffer-share\.1\.[^.]*\.([0-9]{1,3}of[0-9]{1,3})\./;
const FORM = 'write it in the form coffer-share.1.….2of3.need2.…, as it was printed';
const AGAIN = `${FORM}; the shares provided before are kept`;

/** Whether a text is meant as a share, although it may be mistyped. */
export const isMeantAsShare = (text: string): boolean => BEGINNING.test(compact(text));

/**
 * Checks the one share in a text by its checksum, before others are known.
 * @returns the share, without white space and in small letters, so that the same share is the same text
 * @throws `invalid`, with the number that is printed in the share, if it is mistyped
 */
export function checkShare(text: string): string {
  const plain = compact(text);
  if (shareOf(plain) !== undefined) return plain;
  const [, number] = OWN_NUMBER.exec(plain) ?? [];
  throw invalid(`recovery share ${number === undefined ? '' : `${number} `}is mistyped`, {
    field: 'key',
    hint: AGAIN,
  });
}

const compact = (text: string): string => text.replace(/\s/g, '').toLowerCase();

function parseShare(text: string, position: number): RecoveryShare {
  const share = shareOf(compact(text));
  if (share === undefined) throw invalid(`recovery share ${position + 1} is mistyped`, { hint: FORM });
  return share;
}

/** Parses a share without white space; undefined if it is mistyped. */
function shareOf(plain: string): RecoveryShare | undefined {
  const body = plain.slice(0, -(CHECKSUM_HEX_LENGTH + 1));
  const [, slotId, index, count, threshold, hex] = PATTERN.exec(body) ?? [];
  const isIntact = plain === `${body}.${checksum(body)}`;
  if (!isIntact || slotId === undefined || hex === undefined) return undefined;
  return {
    slotId,
    index: Number(index),
    count: Number(count),
    threshold: Number(threshold),
    bytes: Buffer.from(hex, 'hex'),
  };
}

const checksum = (body: string): string =>
  createHash('sha256').update(body).digest('hex').slice(0, CHECKSUM_HEX_LENGTH);
