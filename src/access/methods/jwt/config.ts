import { X509Certificate } from 'node:crypto';
import { expected, invalid, ownWords, unsupported } from '../../../ground/errors.ts';
import { deleteIfThere } from '../../../store/store.ts';
import { changeBelow } from '../../login/role-table.ts';
import { configRef, type FetchedKeys, fetchedRef, type JwtConfig, type JwtPorts } from './documents.ts';
import { fetchKeySet, type KeySource, printSource, sourceOf, whyUntrustworthy } from './key-set.ts';
import { givenKeys, KEPT_MS, keysOf } from './keys.ts';
import { ALGORITHMS } from './signed-token.ts';

const KEEPS_KEYS = `keys fetched earlier from this issuer stay in use until they are ${KEPT_MS / 3_600_000} hours old`;

/** Parts of a configuration that are checked, but not stored. */
interface ConfigExtras {
  /** Whether an unreachable issuer is a warning instead of an error. */
  readonly skipsValidation: boolean;
  /** Only browser logins would need it, so it is not stored. */
  readonly clientSecret: string;
  /** Refused unless empty. */
  readonly provider: Readonly<Record<string, unknown>>;
}

export const readConfig = ({ store, mount }: JwtPorts): Promise<JwtConfig | undefined> =>
  store.read((view) => view.get<JwtConfig>(configRef(mount)));

/** Returns a warning if the issuer supplies no keys at present, although earlier ones may still verify tokens. */
export async function issuerWarnings(room: JwtPorts, config: JwtConfig): Promise<readonly string[]> {
  const reason = await keysOf(room, config).outage();
  return reason === undefined ? [] : [`the issuer supplies no keys: ${reason}; ${KEEPS_KEYS}`];
}

/** Returns why tokens cannot be verified at present; undefined if they can. */
export async function configProblem(room: JwtPorts, config: JwtConfig): Promise<string | undefined> {
  return keysOf(room, config)
    .current()
    .then(
      () => undefined,
      (error: unknown) => expected(error).message,
    );
}

/**
 * Replaces the configuration of a mount, after contacting its issuer.
 * @returns warnings
 * @throws `invalid` with Vault's messages
 */
export async function writeConfig(
  room: JwtPorts,
  config: JwtConfig,
  extras: ConfigExtras,
): Promise<readonly string[]> {
  const source = checked(config, extras);
  let keys = '';
  const warnings: string[] = [];
  if (source !== undefined) {
    try {
      keys = await fetchKeySet(source);
    } catch (error) {
      const text = 'jwksUrl' in source ? 'error checking jwks URL' : 'error checking oidc discovery URL';
      const reason = error instanceof Error ? error.message : String(error);
      if (!extras.skipsValidation) {
        const before = (await readConfig(room)) === undefined ? '' : '; the configuration is unchanged';
        throw invalid(text, { hint: reason + before, cause: error });
      }
      warnings.push(`${text}: ${reason}`);
    }
  }
  const { mount, clock } = room;
  let keepsKeys = false;
  await changeBelow(room, async (tx) => {
    tx.put(configRef(mount), config);
    const fetched = fetchedRef(mount);
    if (source === undefined) return deleteIfThere(tx, fetched);
    const found: FetchedKeys = { source: printSource(source), keys, fetchedMs: clock.now() };
    // Keys fetched earlier from the same issuer stay valid for as long as without this change.
    const before = keys === '' ? await tx.get<FetchedKeys>(fetched) : undefined;
    keepsKeys = before?.source === found.source && before.keys !== '';
    if (!keepsKeys) tx.put(fetched, found);
  });
  return keepsKeys ? [...warnings, KEEPS_KEYS] : warnings;
}

/** Validates a configuration, and returns the source of the keys. */
function checked(config: JwtConfig, extras: ConfigExtras): KeySource | undefined {
  const {
    oidc_discovery_url: discoveryUrl,
    jwks_url: jwksUrl,
    jwt_validation_pubkeys: pems,
    oidc_client_id: clientId,
    oidc_response_mode: mode,
    oidc_response_types: types,
  } = config;
  const hasProvider = Object.keys(extras.provider).length > 0;
  const sources = [discoveryUrl !== '', jwksUrl !== '', pems.length > 0].filter((isSet) => isSet).length;
  if (hasProvider) {
    throw unsupported(ownWords('provider_config is not supported'), {
      field: 'provider_config',
      hint: 'use "jwks_url" or "jwt_validation_pubkeys"',
    });
  }
  if (sources !== 1) {
    throw invalid(
      ownWords(
        "exactly one of 'jwt_validation_pubkeys', 'jwks_url', 'jwks_pairs', 'oidc_discovery_url', or 'provider_config' must be set",
      ),
    );
  }
  if (discoveryUrl.includes('.well-known')) {
    throw invalid(ownWords("'oidc_discovery_url' contains '.well-known' component"), {
      field: 'oidc_discovery_url',
    });
  }
  checkUrl('oidc_discovery_url', discoveryUrl);
  checkUrl('jwks_url', jwksUrl);
  checkCertificates('oidc_discovery_ca_pem', config.oidc_discovery_ca_pem);
  checkCertificates('jwks_ca_pem', config.jwks_ca_pem);
  if ((clientId === '') !== (extras.clientSecret === '')) {
    throw invalid(ownWords("both 'oidc_client_id' and 'oidc_client_secret' must be set for OIDC"), {
      field: 'oidc_client_id',
    });
  }
  givenKeys(pems);
  const unknown = config.jwt_supported_algs.find((name) => !ALGORITHMS.includes(name));
  if (unknown !== undefined) {
    throw invalid(`invalid jwt_supported_algs: unsupported signing algorithm ${JSON.stringify(unknown)}`, {
      field: 'jwt_supported_algs',
      hint: 'use one or more of RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512 and EdDSA',
    });
  }
  if (!['', 'query', 'form_post'].includes(mode)) {
    throw invalid(`invalid response_mode: ${JSON.stringify(mode)}`, { field: 'oidc_response_mode' });
  }
  if (types.some((type) => type !== 'code' && type !== 'id_token')) {
    throw invalid(`invalid response_types [${types.join(' ')}]. 'code' and 'id_token' are allowed`, {
      field: 'oidc_response_types',
    });
  }
  return sourceOf(config);
}

/**
 * Checks a URL: keys fetched without TLS can be replaced by an attacker on the network, who could then log in as
 * anyone.
 */
function checkUrl(field: 'oidc_discovery_url' | 'jwks_url', url: string): void {
  const why = url === '' ? undefined : whyUntrustworthy(url);
  if (why !== undefined) throw invalid(`'${field}' ${why}`, { field });
}

function checkCertificates(field: string, pem: string): void {
  if (pem === '') return;
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [''];
  try {
    for (const block of blocks) new X509Certificate(block);
  } catch {
    throw invalid(`error checking ${field}`, { field, hint: 'use certificates in PEM' });
  }
}
