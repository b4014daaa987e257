import { createHash } from 'node:crypto';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { attempt } from '../../../ground/errors.ts';
import { isLoopback } from '../../../ground/loopback.ts';
import { isObject } from '../../../ground/objects.ts';
import { fetchOutside } from '../../login/fetch-outside.ts';
import type { JwtConfig } from './documents.ts';
import type { VerificationKeys } from './signed-token.ts';

/** Maximum number of keys in a set: a token that names none is tried with each. */
export const MOST_KEYS = 100;

/** Source of an issuer's keys. */
export type KeySource = IssuerTrust & ({ readonly discoveryUrl: string } | { readonly jwksUrl: string });

/** Returns the source of a mount's keys; undefined if they are configured directly. */
export function sourceOf(config: JwtConfig): KeySource | undefined {
  const serverNames = config.override_allowed_server_names;
  if (config.oidc_discovery_url !== '') {
    return { discoveryUrl: config.oidc_discovery_url, ca: config.oidc_discovery_ca_pem, serverNames };
  }
  if (config.jwks_url !== '') return { jwksUrl: config.jwks_url, ca: config.jwks_ca_pem, serverNames };
  return undefined;
}

/** Returns an identity of the source; keys fetched from another source are not used. */
export const printSource = (source: KeySource): string =>
  createHash('sha256').update(JSON.stringify(source)).digest('base64');

/**
 * Fetches a key set as JSON.
 * @throws an `Error` with the reason
 */
export async function fetchKeySet(source: KeySource): Promise<string> {
  const url = 'jwksUrl' in source ? source.jwksUrl : await discovered(source.discoveryUrl, source);
  const keys = await fetchDocument(url, source);
  await readKeySet(keys);
  return keys;
}

/** Returns the URL of the key set from the discovery document (OpenID Connect Discovery 1.0, sections 3 and 4). */
async function discovered(issuer: string, trust: IssuerTrust): Promise<string> {
  const text = await fetchDocument(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, trust);
  const document = parsed(text, 'the discovery document');
  if (document['issuer'] !== issuer) throw new Error('the discovery document names another issuer');
  const { jwks_uri: url } = document;
  if (typeof url !== 'string') throw new Error('the discovery document has no jwks_uri');
  // Otherwise the author of that document could make this server contact its own machine's services.
  if (isOverTls(issuer) && !isOverTls(url))
    throw new Error('the jwks_uri in the discovery document does not begin with https://');
  return url;
}

const isOverTls = (address: string): boolean =>
  URL.canParse(address) && new URL(address).protocol === 'https:';

function parsed(text: string, what: string): Readonly<Record<string, unknown>> {
  const value: unknown = attempt(() => JSON.parse(text));
  if (!isObject(value)) throw new Error(`${what} is not a JSON object`);
  return value;
}

/** Base64url characters of the largest number of an RSA key with which OpenSSL verifies: 16,384 bits. */
const MOST_NUMBER_CHARACTERS = 2731;

/** Whether Node can read a number of an RSA key without leaving an error behind, see `rsaNumbers`. */
const isOpenable = (number: unknown): boolean =>
  typeof number !== 'string' || number.length <= MOST_NUMBER_CHARACTERS;

/**
 * Parses a key set for verification.
 * @throws an `Error` if it is malformed, or empty: an issuer without keys has a temporary problem
 */
export async function readKeySet(json: string): Promise<VerificationKeys> {
  const { createLocalJWKSet } = await import('jose');
  const { keys } = parsed(json, 'the key set');
  if (!Array.isArray(keys) || !keys.every(isObject)) throw new Error('the key set has no list of keys');
  if (keys.length === 0) throw new Error('the key set is empty');
  if (keys.length > MOST_KEYS) throw new Error(`the key set has more than ${MOST_KEYS} keys`);
  const usable = keys.filter(({ n, e }) => [n, e].every(isOpenable));
  return {
    candidates: [createLocalJWKSet({ keys: usable })],
    refusal: 'failed to verify id token signature',
  };
}

/** Total time limit in milliseconds, from the DNS lookup to the last byte. */
const WITHIN_MS = 5_000;
/** Maximum size of a document, in bytes. Key sets have a few keys of some hundred bytes each. */
const MOST_BYTES = 1024 * 1024;

/** TLS trust settings for documents of an issuer. */
interface IssuerTrust {
  /** Certificate authorities in PEM that replace the platform's; empty for those. */
  readonly ca: string;
  /** Names that the server's certificate may have instead of the host name; empty for the host name only. */
  readonly serverNames: readonly string[];
}

const NOT_SECURE = 'must begin with https://; http:// is only allowed for localhost';

/**
 * Returns what a URL must or must not be; undefined if it uses TLS, or is on this machine, so that no attacker is in
 * between.
 */
export function whyUntrustworthy(address: string): string | undefined {
  if (!URL.canParse(address)) return NOT_SECURE;
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return 'must not contain a user name or password';
  const isLocal = protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, ''));
  return protocol === 'https:' || isLocal ? undefined : NOT_SECURE;
}

/**
 * Fetches a document of an issuer as text, with bounded time and memory, and without following redirects.
 * @throws an `Error` with a short reason
 */
export async function fetchDocument(address: string, trust: IssuerTrust): Promise<string> {
  const why = whyUntrustworthy(address);
  if (why !== undefined) throw new Error(`the URL ${why}`);
  const bytes = await fetchOutside(new URL(address), {
    withinMs: WITHIN_MS,
    mostBytes: MOST_BYTES,
    accept: 'application/json',
    tls: trusting(trust),
  });
  return bytes.toString('utf8');
}

function trusting({ ca, serverNames }: IssuerTrust) {
  return {
    ca: ca === '' ? undefined : ca,
    // Node calls this member even if it is undefined, so an undefined member would break each connection.
    checkServerIdentity:
      serverNames.length === 0
        ? checkServerIdentity
        : (_host: string, certificate: PeerCertificate) =>
            serverNames.some((name) => checkServerIdentity(name, certificate) === undefined)
              ? undefined
              : new Error("the server's certificate has none of the allowed server names"),
  };
}
