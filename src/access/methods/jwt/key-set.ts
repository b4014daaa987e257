import { createHash } from 'node:crypto';
import { isObject } from '../../../ground/objects.ts';
import type { JwtConfig } from './documents.ts';
import { fetchDocument, type IssuerTrust } from './issuer-document.ts';
import type { VerificationKeys } from './signed-token.ts';

/** Keys of a set at most: a token that names none is tried with each. */
export const MOST_KEYS = 100;

/** Where an issuer's keys are. */
export type KeySource = IssuerTrust & ({ readonly discoveryUrl: string } | { readonly jwksUrl: string });

/** Where a mount's keys are fetched; undefined for one that was given its keys. */
export function sourceOf(config: JwtConfig): KeySource | undefined {
  const serverNames = config.override_allowed_server_names;
  if (config.oidc_discovery_url !== '') {
    return { discoveryUrl: config.oidc_discovery_url, ca: config.oidc_discovery_ca_pem, serverNames };
  }
  if (config.jwks_url !== '') return { jwksUrl: config.jwks_url, ca: config.jwks_ca_pem, serverNames };
  return undefined;
}

/** Tells one source from another; what was fetched from another is not used. */
export const printSource = (source: KeySource): string =>
  createHash('sha256').update(JSON.stringify(source)).digest('base64');

/**
 * Fetches a key set, as JSON.
 * @throws an `Error` that says why not.
 */
export async function fetchKeySet(source: KeySource): Promise<string> {
  const url = 'jwksUrl' in source ? source.jwksUrl : await discovered(source.discoveryUrl, source);
  const keys = await fetchDocument(url, source);
  await readKeySet(keys);
  return keys;
}

/** What the discovery document says of the key set (OpenID Connect Discovery 1.0, sections 3 and 4). */
async function discovered(issuer: string, trust: IssuerTrust): Promise<string> {
  const text = await fetchDocument(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, trust);
  const document = parsed(text, 'the discovery document');
  if (document['issuer'] !== issuer) throw new Error('the discovery document is of another issuer');
  const { jwks_uri: url } = document;
  if (typeof url !== 'string') throw new Error('the discovery document names no key set');
  // Else whoever writes that document has this machine's own services asked.
  if (isOverTls(issuer) && !isOverTls(url)) throw new Error('the discovery document leads away from TLS');
  return url;
}

const isOverTls = (address: string): boolean =>
  URL.canParse(address) && new URL(address).protocol === 'https:';

function parsed(text: string, what: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Said below.
  }
  if (!isObject(value)) throw new Error(`${what} is no object of JSON`);
  return value;
}

/**
 * A key set, ready to verify with.
 * @throws an `Error` for what is none, and for one without keys: an issuer that publishes none has a bad moment.
 */
export async function readKeySet(json: string): Promise<VerificationKeys> {
  const { createLocalJWKSet } = await import('jose');
  const { keys } = parsed(json, 'the key set');
  if (!Array.isArray(keys) || !keys.every(isObject)) throw new Error('the key set is none');
  if (keys.length === 0) throw new Error('the key set is empty');
  if (keys.length > MOST_KEYS) throw new Error(`the key set has more than ${MOST_KEYS} keys`);
  return { candidates: [createLocalJWKSet({ keys })], refusal: 'failed to verify id token signature' };
}
