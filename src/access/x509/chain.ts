import type { KeyObject } from 'node:crypto';
import { printGoTime } from '../../ground/clock.ts';
import { type CofferError, invalid } from '../../ground/errors.ts';
import { isStrong } from './algorithms.ts';
import { type Certificate, EXTENSION } from './certificate.ts';

/** The leaf first, whom somebody trusts last. */
export type Chain = readonly Certificate[];

/** What is looked at on the way to an authority: so many certificates above each other, signatures, steps, and chains. */
const MOST_LINKS = 10;
const MOST_SIGNATURES = 100;
const MOST_STEPS = 100;
const MOST_CHAINS = 20;

/** Extensions that are understood, or say nothing that could be against a client. Name constraints are not among them. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  EXTENSION.subjectKeyId,
  EXTENSION.keyUsage,
  EXTENSION.alternativeNames,
  EXTENSION.basicConstraints,
  EXTENSION.authorityKeyId,
  EXTENSION.extendedKeyUsage,
  '2.5.29.31', // Where lists of revoked certificates are.
  '2.5.29.32', // Policies: none is asked for.
]);

const ANY_PURPOSE = '2.5.29.37.0';
const CLIENT_PURPOSE = '1.3.6.1.5.5.7.3.2';

/** Whether it is good for logging in. A certificate that says nothing of purposes is. */
export const isForClients = ({ purposes }: Certificate): boolean =>
  purposes === undefined || purposes.includes(CLIENT_PURPOSE) || purposes.includes(ANY_PURPOSE);

/**
 * The ways from a certificate to those that somebody trusts (RFC 5280, 6.1): each within its time, signed by the next, which may
 * sign at that place; all good for clients. What is not understood is refused.
 * @param intermediates as the client sent them; nothing about them is trusted.
 * @returns none when nobody who is trusted signed it.
 * @throws `invalid` for a certificate that nobody should take, in the words of peers.
 */
export function chainsTo(
  anchors: readonly Certificate[],
  { leaf, intermediates }: { readonly leaf: Certificate; readonly intermediates: readonly Certificate[] },
  nowMs: number,
): readonly Chain[] {
  const wrong = whatIsWrong(leaf, nowMs);
  if (wrong !== undefined) throw unverified(wrong);
  const search = new Search(anchors, intermediates, nowMs);
  search.from(leaf);
  if (search.chains.length === 0 && search.wrong !== undefined) throw unverified(search.wrong);
  const usable = search.chains.filter((chain) => chain.every(isForClients));
  if (usable.length === 0 && search.chains.length > 0) {
    throw unverified('certificate specifies an incompatible key usage');
  }
  return usable;
}

class Search {
  readonly chains: Chain[] = [];
  /** Why an authority was passed over that signed. */
  wrong: string | undefined;
  readonly #anchors: readonly Certificate[];
  readonly #intermediates: readonly Certificate[];
  readonly #nowMs: number;
  #signers: Signers = new Map();
  #steps = 0;

  constructor(anchors: readonly Certificate[], intermediates: readonly Certificate[], nowMs: number) {
    this.#anchors = anchors;
    this.#intermediates = intermediates;
    this.#nowMs = nowMs;
  }

  from(leaf: Certificate): void {
    this.#signers = signersOf(leaf, this.#intermediates, this.#anchors);
    if (this.#anchors.some((anchor) => isSame(anchor, leaf))) this.chains.push([leaf]);
    this.#goOn([leaf], leaf);
  }

  #goOn(path: Chain, last: Certificate): void {
    if (path.length >= MOST_LINKS) return;
    for (const anchor of this.#anchors) {
      if (this.#mayFollow(path, last, anchor)) this.chains.push([...path, anchor]);
      if (this.chains.length >= MOST_CHAINS) return;
    }
    for (const intermediate of this.#intermediates) {
      if (this.#mayFollow(path, last, intermediate)) this.#goOn([...path, intermediate], intermediate);
      if (this.chains.length >= MOST_CHAINS) return;
    }
  }

  #mayFollow(path: Chain, last: Certificate, authority: Certificate): boolean {
    if (!this.#signers.get(last)?.has(authority)) return false;
    if (path.some((other) => isSame(other, authority)) || this.#steps >= MOST_STEPS) return false;
    this.#steps += 1;
    const wrong = whatIsWrong(authority, this.#nowMs) ?? whatIsWrongThere(authority, path);
    this.wrong ??= wrong;
    return wrong === undefined;
  }
}

/** Who signed what. */
type Signers = Map<Certificate, Set<Certificate>>;

/**
 * Finds out who signed what, from those who are trusted downwards. No key verifies anything before somebody has vouched for it: a
 * stranger's would be made to take as long as can be.
 */
function signersOf(
  leaf: Certificate,
  intermediates: readonly Certificate[],
  anchors: readonly Certificate[],
): Signers {
  const signers: Signers = new Map();
  const vouchedFor = new Set(anchors);
  let signatures = 0;
  // What is added on the way has its turn as well.
  for (const authority of vouchedFor) {
    for (const certificate of [leaf, ...intermediates]) {
      if (!couldHaveSigned(authority, certificate)) continue;
      if (signatures >= MOST_SIGNATURES) return signers;
      signatures += 1;
      if (!isSignedBy(certificate, authority)) continue;
      signers.set(certificate, (signers.get(certificate) ?? new Set()).add(authority));
      if (authority.isAuthority && certificate !== leaf) vouchedFor.add(certificate);
    }
  }
  return signers;
}

const couldHaveSigned = (authority: Certificate, certificate: Certificate): boolean =>
  authority.subject === certificate.issuer &&
  !isSame(authority, certificate) &&
  certificate.x509.checkIssued(authority.x509);

const isSame = (one: Certificate, other: Certificate): boolean => one.x509.raw.equals(other.x509.raw);

function isSignedBy(certificate: Certificate, authority: Certificate): boolean {
  const key = publicKeyOf(authority);
  return key !== undefined && certificate.x509.verify(key);
}

/** Undefined for a kind of key that OpenSSL does not know. */
function publicKeyOf({ x509 }: Certificate): KeyObject | undefined {
  try {
    return x509.publicKey;
  } catch {
    return undefined;
  }
}

/** Of the certificate by itself. */
function whatIsWrong(certificate: Certificate, nowMs: number): string | undefined {
  const { x509, extensions } = certificate;
  const from = x509.validFromDate.getTime();
  const until = x509.validToDate.getTime();
  if (!(nowMs >= from && nowMs <= until)) {
    const side = nowMs < from ? `before ${printSecond(from)}` : `after ${printSecond(until)}`;
    return `certificate has expired or is not yet valid: current time ${printSecond(nowMs)} is ${side}`;
  }
  // It may be of any weight, critical or not: whoever limited an authority relies on it.
  if (extensions.has(EXTENSION.nameConstraints)) return 'name constraints are not supported';
  for (const [type, { isCritical }] of extensions) {
    if (isCritical && !UNDERSTOOD.has(type)) return 'unhandled critical extension';
  }
  const key = publicKeyOf(certificate);
  return key === undefined || !isStrong(key) ? 'certificate has a key that is too weak' : undefined;
}

/** Of an authority as the next above a path. */
function whatIsWrongThere({ isAuthority, pathLength }: Certificate, path: Chain): string | undefined {
  if (!isAuthority) return 'certificate is not authorized to sign other certificates';
  // Those that an authority issued to its own name count as well. @see docs/decisions/0271
  const between = path.length - 1;
  if (pathLength !== undefined && BigInt(between) > pathLength)
    return 'too many intermediates for path length constraint';
  const unsound = path.some(({ isSoundlySigned }) => !isSoundlySigned);
  return unsound ? 'cannot verify signature: insecure algorithm' : undefined;
}

const printSecond = (ms: number): string => printGoTime(Math.floor(ms / 1000) * 1000);

const unverified = (wrong: string): CofferError =>
  invalid(`failed to verify client's certificate: x509: ${wrong}`);
