import { invalid, ownWords, unlessRefused, unsupported } from '../../../ground/errors.ts';
import { madeOnce } from '../../../ground/objects.ts';
import { pemBlocks } from '../../../ground/pem.ts';
import type { Mount } from '../../../mounts/mount.ts';
import { changedSettings, NO_SETTINGS, type TokenSettings } from '../../login/token-settings.ts';
import { MAX_TTL_SECONDS } from '../../token.ts';
import { type Certificate, readCertificate } from '../../x509/certificate.ts';
import { isForClients } from '../../x509/chain.ts';
import { type CertPorts, type CertRole, type CertRoleSettings, NEW_ROLE, rolesOf } from './documents.ts';

/** Maximum length of a role's certificates, in characters: some hundred authorities. */
const MOST_CHARACTERS = 256 * 1024;

/** Change of a role; absent members stay unchanged. */
interface CertRoleChange {
  readonly settings: Partial<CertRoleSettings>;
  readonly token: Partial<TokenSettings>;
}

/**
 * Creates or changes a role.
 * @returns warnings
 * @throws `invalid` with Vault's messages
 */
export async function writeRole(
  room: CertPorts,
  name: string,
  { settings, token }: CertRoleChange,
): Promise<readonly string[]> {
  const written = await rolesOf(room).write(name, (before) => {
    const changed = { ...(before?.settings ?? NEW_ROLE), ...settings };
    requireExtensionRules(changed);
    requireOrderedTimes({ ...(before?.token ?? NO_SETTINGS), ...token }, token);
    const role: CertRole = {
      settings: { ...changed, display_name: changed.display_name || name },
      token: changedSettings(before?.token ?? NO_SETTINGS, token),
    };
    requireCertificates(certificatesOf(role));
    return role;
  });
  return warningsOf(room.mount, written.token);
}

/** Parsed certificates, by the role object, which the store's cache keeps. */
const read = new WeakMap<CertRole, readonly Certificate[]>();

/**
 * Parses the certificates of a role, authorities or one leaf.
 * @throws `invalid` if there are none, or one is malformed
 */
export const certificatesOf = (role: CertRole): readonly Certificate[] =>
  madeOnce(read, role, () => {
    const { certificate: pem } = role.settings;
    const blocks = pem.length > MOST_CHARACTERS ? [] : pemBlocks(pem).blocks;
    const found = blocks.filter(({ label }) => label === 'CERTIFICATE').map(({ bytes }) => parsed(bytes));
    if (found.length === 0) throw unparsed();
    return found;
  });

const unparsed = () =>
  invalid(ownWords('failed to parse certificate'), {
    field: 'certificate',
    hint: 'use CA certificates, or one client certificate, in PEM',
  });

function parsed(der: Buffer): Certificate {
  const certificate = unlessRefused(() => readCertificate(der), undefined);
  if (certificate === undefined) throw unparsed();
  return certificate;
}

/** Whether the role pins a single certificate, instead of trusting an authority. */
export const isPinned = (certificates: readonly Certificate[]): boolean =>
  certificates[0]?.isAuthority === false;

function requireCertificates(certificates: readonly Certificate[]): void {
  const [first] = certificates;
  if (first !== undefined && isPinned(certificates) && !isForClients(first)) {
    throw invalid(
      ownWords('nonCA certificates should have TLS client authentication set as an extended key usage'),
      {
        field: 'certificate',
      },
    );
  }
}

const OBJECT_IDENTIFIER = /^\d+(?:\.\d+)+$/;

function requireExtensionRules({ required_extensions, allowed_metadata_extensions }: CertRoleSettings): void {
  for (const rule of required_extensions) {
    const colon = rule.indexOf(':');
    if (colon !== -1 && OBJECT_IDENTIFIER.test(rule.slice(0, colon))) continue;
    throw invalid(`required_extensions must be of the form oid:value, not ${JSON.stringify(rule)}`, {
      field: 'required_extensions',
      hint: 'write it as 1.2.840.113556.1.4.656:value',
    });
  }
  const bad = allowed_metadata_extensions.find((identifier) => !OBJECT_IDENTIFIER.test(identifier));
  if (bad === undefined) return;
  throw invalid(`allowed_metadata_extensions must be object identifiers, not ${JSON.stringify(bad)}`, {
    field: 'allowed_metadata_extensions',
  });
}

/** Checks the lifetimes; Vault has different messages if the older names were used. */
function requireOrderedTimes(
  { token_ttl: ttl, token_max_ttl: longest }: TokenSettings,
  change: Partial<TokenSettings>,
): void {
  const isOlder = change.ttl !== undefined || change.max_ttl !== undefined;
  if (isOlder && longest > 0 && ttl > longest)
    throw invalid(ownWords('ttl should be shorter than max_ttl'), { field: 'ttl' });
}

function warningsOf({ config = {} }: Mount, token: TokenSettings): readonly string[] {
  const longest = config.max_lease_ttl ?? MAX_TTL_SECONDS;
  const usual = config.default_lease_ttl ?? longest;
  const rules = [
    ['ttl', token.token_ttl, usual, 'current mount/system default'],
    ['max_ttl', token.token_max_ttl, longest, 'current mount/system default'],
    ['period', token.token_period, longest, "the backend's maximum TTL"],
  ] as const;
  return rules.flatMap(([name, given, most, ofWhat]) =>
    given > most ? [`Given ${name} of ${given} seconds is greater than ${ofWhat} of ${most} seconds`] : [],
  );
}

/**
 * Refuses OCSP settings: accepted settings must be stored, and a caller who enables these checks relies on them.
 * @param settings OCSP settings by their API names
 * @throws `unsupported` for one that is enabled or not empty
 */
export function refuseOnlineChecks(settings: Readonly<Record<string, unknown>>): void {
  const wanted = Object.entries(settings).find(
    ([, value]) =>
      value === true || ((typeof value === 'string' || Array.isArray(value)) && value.length > 0),
  );
  if (wanted === undefined) return;
  throw unsupported(ownWords('OCSP is not supported'), {
    field: wanted[0],
    hint: 'use a revocation list (CRL): "coffer auth cert set-revocations NAME"',
  });
}
