import type { KeyObject } from 'node:crypto';
import { printGoTime } from '../../ground/clock.ts';
import { attempt, type CofferError, invalid } from '../../ground/errors.ts';
import { type Certificate, EXTENSION, isStrong } from './certificate.ts';

/** Certificate chain, from the leaf to a trusted certificate. */
export type Chain = readonly Certificate[];

/** Limits of the search: length of a chain, signatures verified, steps, and chains returned. */
const MOST_LINKS = 10;
const MOST_SIGNATURES = 100;
const MOST_STEPS = 100;
const MOST_CHAINS = 20;

/** Extensions that are supported, or cannot restrict a client. Name constraints are not among them. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  EXTENSION.subjectKeyId,
  EXTENSION.keyUsage,
  EXTENSION.alternativeNames,
  EXTENSION.basicConstraints,
  EXTENSION.authorityKeyId,
  EXTENSION.extendedKeyUsage,
  '2.5.29.31', // CRL distribution points
  '2.5.29.32', // Policies; none is required.
]);

const ANY_PURPOSE = '2.5.29.37.0';
const CLIENT_PURPOSE = '1.3.6.1.5.5.7.3.2';

/** Whether a certificate may be used for client authentication; one without extended key usages may. */
export const isForClients = ({ purposes }: Certificate): boolean =>
  purposes === undefined || purposes.includes(CLIENT_PURPOSE) || purposes.includes(ANY_PURPOSE);

/**
 * Finds the chains from a certificate to trusted ones (RFC 5280, 6.1): each certificate is within its validity period,
 * is signed by the next, which may sign at that position, and allows client authentication. Unsupported restrictions
 * are refused.
 * @param intermediates as sent by the client, not trusted
 * @returns none if no trusted authority signed it
 * @throws `invalid` for a certificate that must not be accepted, with Vault's messages
 */
export function chainsTo(
  anchors: readonly Certificate[],
  { leaf, intermediates }: { readonly leaf: Certificate; readonly intermediates: readonly Certificate[] },
  nowMs: number,
): readonly Chain[] {
  const wrong = whatIsWrong(leaf, nowMs);
  if (wrong !== undefined) throw unverified(wrong);
  const signers = signersOf(leaf, intermediates, anchors);
  const chains: Chain[] = anchors.some((anchor) => isSame(anchor, leaf)) ? [[leaf]] : [];
  /** Reason why an authority that signed was rejected. */
  let rejected: string | undefined;
  let steps = 0;
  const mayFollow = (path: Chain, last: Certificate, authority: Certificate): boolean => {
    if (!signers.get(last)?.has(authority)) return false;
    if (path.some((other) => isSame(other, authority)) || steps >= MOST_STEPS) return false;
    steps += 1;
    const why = whatIsWrong(authority, nowMs) ?? whatIsWrongThere(authority, path);
    rejected ??= why;
    return why === undefined;
  };
  const goOn = (path: Chain, last: Certificate): void => {
    if (path.length >= MOST_LINKS) return;
    for (const anchor of anchors) {
      if (mayFollow(path, last, anchor)) chains.push([...path, anchor]);
      if (chains.length >= MOST_CHAINS) return;
    }
    for (const intermediate of intermediates) {
      if (mayFollow(path, last, intermediate)) goOn([...path, intermediate], intermediate);
      if (chains.length >= MOST_CHAINS) return;
    }
  };
  goOn([leaf], leaf);
  if (chains.length === 0 && rejected !== undefined) throw unverified(rejected);
  const usable = chains.filter((chain) => chain.every(isForClients));
  if (usable.length === 0 && chains.length > 0) {
    throw unverified('certificate specifies an incompatible key usage');
  }
  return usable;
}

/** Signers of each certificate. */
type Signers = Map<Certificate, Set<Certificate>>;

/**
 * Determines who signed what, from the trusted certificates downwards. A key is used only after an authority has
 * vouched for it: an attacker's key could be made as slow as possible.
 */
function signersOf(
  leaf: Certificate,
  intermediates: readonly Certificate[],
  anchors: readonly Certificate[],
): Signers {
  const signers: Signers = new Map();
  const vouchedFor = new Set(anchors);
  let signatures = 0;
  // Authorities that are added during the loop are processed as well.
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

/** Returns the public key; undefined for a type that OpenSSL does not know. */
const publicKeyOf = ({ x509 }: Certificate): KeyObject | undefined => attempt(() => x509.publicKey);

/** Returns the reason why the certificate itself is not valid. */
function whatIsWrong(certificate: Certificate, nowMs: number): string | undefined {
  const { x509, extensions } = certificate;
  const from = x509.validFromDate.getTime();
  const until = x509.validToDate.getTime();
  if (!(nowMs >= from && nowMs <= until)) {
    const side = nowMs < from ? `before ${printSecond(from)}` : `after ${printSecond(until)}`;
    return `certificate has expired or is not yet valid: current time ${printSecond(nowMs)} is ${side}`;
  }
  // Refused whether critical or not: the issuer that restricted the authority relies on it.
  if (extensions.has(EXTENSION.nameConstraints)) return 'name constraints are not supported';
  for (const [type, { isCritical }] of extensions) {
    if (isCritical && !UNDERSTOOD.has(type)) return 'unhandled critical extension';
  }
  const key = publicKeyOf(certificate);
  return key === undefined || !isStrong(key) ? 'certificate has a key that is too weak' : undefined;
}

/** Returns the reason why an authority may not sign the first certificate of a path. */
function whatIsWrongThere({ isAuthority, pathLength }: Certificate, path: Chain): string | undefined {
  if (!isAuthority) return 'certificate is not authorized to sign other certificates';
  // Certificates that an authority issued to its own name count as well.
  // @see docs/decisions/0271
  const between = path.length - 1;
  if (pathLength !== undefined && BigInt(between) > pathLength)
    return 'too many intermediates for path length constraint';
  const unsound = path.some(({ isSoundlySigned }) => !isSoundlySigned);
  return unsound ? 'cannot verify signature: insecure algorithm' : undefined;
}

const printSecond = (ms: number): string => printGoTime(Math.floor(ms / 1000) * 1000);

const unverified = (wrong: string): CofferError =>
  invalid(`failed to verify client's certificate: x509: ${wrong}`);
