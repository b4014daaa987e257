import { hash } from 'node:crypto';
import { readDer } from '../../../ground/der.ts';
import { type CofferError, invalid, ownWords, refusedAs, unlessRefused } from '../../../ground/errors.ts';
import { glob } from '../../../ground/glob.ts';
import { madeOnce } from '../../../ground/objects.ts';
import type { Mount } from '../../../mounts/mount.ts';
import type { View } from '../../../store/store.ts';
import type { KeyCheck, Login } from '../../login/login-token.ts';
import { requireWithin } from '../../login/networks.ts';
import { settingsFrom } from '../../login/token-settings.ts';
import type { TokenLogin } from '../../token.ts';
import type { IssuedToken, Tokens } from '../../tokens.ts';
import { type Certificate, readCertificate, textOf } from '../../x509/certificate.ts';
import { type Chain, chainsTo } from '../../x509/chain.ts';
import {
  allIn,
  type CertMountSettings,
  type CertPorts,
  type CertRole,
  type CertRoleSettings,
  type KeptList,
  roleRef,
  settingsRef,
} from './documents.ts';
import { LISTS, ROLES } from './mount-type.ts';
import { certificatesOf, isPinned } from './roles.ts';

/** Certificates of a client from its connection: base64 of DER, leaf first. */
type ClientCertificates = readonly string[];

interface Presented {
  /** Leaf; the TLS handshake proved possession of its key. */
  readonly leaf: Certificate;
  /** Intermediates, not verified. */
  readonly intermediates: readonly Certificate[];
}

/**
 * Parses the certificates of a client.
 * @throws `invalid` if there are none, or one cannot be parsed
 */
export function readPresented(certificates: ClientCertificates | undefined): Presented {
  const [leaf, ...intermediates] = (certificates ?? []).map(readOne);
  if (certificates === undefined || certificates.length === 0) {
    throw invalid(ownWords('no client certificate found'), {
      hint:
        'set COFFER_CLIENT_CERT and COFFER_CLIENT_KEY, and connect over https, not through a proxy that ' +
        'terminates TLS',
    });
  }
  if (leaf === undefined) throw nobodysCertificate();
  return { leaf, intermediates: intermediates.filter((certificate) => certificate !== undefined) };
}

const readOne = (base64: string): Certificate | undefined =>
  unlessRefused(() => readCertificate(Buffer.from(base64, 'base64')), undefined);

/** Creates the error for an untrusted certificate, or an unknown role: the two must be indistinguishable. */
const nobodysCertificate = (): CofferError =>
  invalid(ownWords('invalid certificate or no client certificate supplied'));

/** Role that matches a client. */
interface Admitted {
  readonly name: string;
  readonly role: CertRole;
}

interface Candidate extends Admitted {
  readonly certificates: readonly Certificate[];
}

/**
 * Finds the role for a client. If none is named, the strictest that matches is used: a lenient one must not take
 * clients of another.
 * @param name empty for any
 * @throws `invalid` with Vault's messages
 * @see docs/decisions/0182
 */
async function judge(
  view: View,
  mount: Mount,
  presented: Presented,
  { name, nowMs }: { readonly name: string; readonly nowMs: number },
): Promise<Admitted> {
  const candidates = await candidatesFor(view, mount, name);
  const anchors = candidates.flatMap(({ certificates }) => (isPinned(certificates) ? [] : certificates));
  const chains = chainsTo(anchors, presented, nowMs);
  const lists = await allIn<KeptList>(view, mount, LISTS);
  const isRevoked = (certificate: Certificate) => lists.some(([, list]) => revokes(list, certificate));
  for (const candidate of candidates) {
    const isTrusted = chainsOf(candidate, presented, chains).some((chain) => !chain.some(isRevoked));
    if (isTrusted && meets(presented.leaf, candidate.role.settings)) return candidate;
  }
  if (chains.length === 0) throw nobodysCertificate();
  throw invalid(ownWords('no chain matching all constraints could be found for this login certificate'));
}

/** Returns the candidates, strictest first. */
async function candidatesFor(view: View, mount: Mount, name: string): Promise<readonly Candidate[]> {
  const named = name === '' ? undefined : await view.get<CertRole>(roleRef(mount, name));
  const roles =
    name === ''
      ? await allIn<CertRole>(view, mount, ROLES)
      : named === undefined
        ? []
        : [[name, named] as const];
  return roles
    .map(([id, role]) => ({ name: id, role, certificates: certificatesOf(role) }))
    .toSorted((a, b) => rank(b) - rank(a));
}

/** A pinned certificate is stricter than any name patterns. */
const rank = ({ role, certificates }: Candidate): number =>
  strictness(role.settings) + (isPinned(certificates) ? 100 : 0);

/** Returns the chains from the client's certificate to one of the role's. */
function chainsOf(
  { certificates }: Candidate,
  { leaf }: Presented,
  chains: readonly Chain[],
): readonly Chain[] {
  const isOfRole = (certificate: Certificate) =>
    certificates.some(({ x509 }) => x509.raw.equals(certificate.x509.raw));
  if (!isPinned(certificates)) return chains.filter((chain) => chain.some(isOfRole));
  return certificates[0]?.x509.raw.equals(leaf.x509.raw) ? [[leaf]] : [];
}

/** Sets of revoked serials, by the list object, which the store's cache keeps. */
const compiled = new WeakMap<KeptList, ReadonlySet<string>>();

function revokes(list: KeptList, { serial, issuer }: Certificate): boolean {
  if (list.issuer !== issuer) return false;
  return madeOnce(compiled, list, () => new Set(list.serials)).has(serial);
}

/** Letters, digits, hyphens and underscores between dots (RFC 1034, 3.5), and stars. */
const DNS_NAME = /^[\w*-]+(?:\.[\w*-]+)*\.?$/;
/** Email addresses of RFC 5280, 4.2.1.6: visible ASCII characters, and spaces where they are quoted. */
const MAILBOX = /^[\x20-\x7e]+$/;
const URI = /^[\x21-\x7e]+$/;
/** Text without control characters and line breaks, and without replacement characters of invalid encodings. */
const TEXT = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufffd]*$/u;

/** Filters out malformed names: patterns are meant for well-formed ones. */
const namesOf = (form: RegExp, names: readonly string[]): readonly string[] =>
  names.filter((name) => form.test(name));

/** List of patterns in a role, and the names of a certificate that it applies to. */
type NameRule = readonly [
  list: keyof CertRoleSettings & `allowed_${string}`,
  of: (leaf: Certificate) => readonly string[],
];

const RULES: readonly NameRule[] = [
  [
    'allowed_names',
    ({ commonName, dns, emails }) => [
      ...namesOf(TEXT, [commonName]),
      ...namesOf(DNS_NAME, dns),
      ...namesOf(MAILBOX, emails),
    ],
  ],
  ['allowed_common_names', ({ commonName }) => namesOf(TEXT, [commonName])],
  ['allowed_dns_sans', ({ dns }) => namesOf(DNS_NAME, dns)],
  ['allowed_email_sans', ({ emails }) => namesOf(MAILBOX, emails)],
  ['allowed_uri_sans', ({ uris }) => namesOf(URI, uris)],
  ['allowed_organizational_units', ({ organizationalUnits }) => namesOf(TEXT, organizationalUnits)],
];

/** Whether a certificate meets the requirements of a role, apart from its issuer. */
export function meets(leaf: Certificate, settings: CertRoleSettings): boolean {
  const hasNames = RULES.every(([list, of]) => {
    const patterns = settings[list];
    return patterns.length === 0 || of(leaf).some((name) => patterns.some((pattern) => glob(pattern)(name)));
  });
  return hasNames && settings.required_extensions.every((required) => hasExtension(leaf, required));
}

/** Returns the number of requirements of a role. */
const strictness = (settings: CertRoleSettings): number =>
  RULES.filter(([list]) => settings[list].length > 0).length +
  (settings.required_extensions.length > 0 ? 1 : 0);

function hasExtension(leaf: Certificate, required: string): boolean {
  const colon = required.indexOf(':');
  const value = extensionText(leaf, required.slice(0, colon));
  return value !== undefined && TEXT.test(value) && glob(required.slice(colon + 1))(value);
}

/** Returns the text of an extension; empty if it has another type, undefined if it is absent. */
export function extensionText({ extensions }: Certificate, type: string): string | undefined {
  const found = extensions.get(type);
  if (found === undefined) return undefined;
  return unlessRefused(() => textOf(readDer(found.value)) ?? '', '');
}

/** Login attempt, with the client address. */
interface CertAttempt {
  readonly certificates: ClientCertificates | undefined;
  /** Role; empty for the strictest that matches. */
  readonly name: string;
  readonly address: string;
}

/**
 * Logs in with the client certificate of the connection.
 * @throws `invalid` with Vault's messages; `denied` from an address that the role does not allow
 */
export async function login(room: CertPorts, tokens: Tokens, attempt: CertAttempt): Promise<IssuedToken> {
  const presented = readPresented(attempt.certificates);
  // Checked before the transaction, so that clients without a valid certificate never take the write lock.
  const { name } = await room.store.read((view) => admit(view, room, presented, attempt));
  return tokens.login(async (tx) => {
    const admitted = await admit(tx, room, presented, { ...attempt, name });
    return loginOf(room, admitted, presented.leaf, attempt.address);
  });
}

/** Returns the role that a login without a role name would use; undefined if none matches. */
export async function roleThatFits(
  { store, mount, clock }: CertPorts,
  certificates: ClientCertificates | undefined,
): Promise<string | undefined> {
  const presented = unlessRefused(() => readPresented(certificates), undefined);
  if (presented === undefined) return undefined;
  const asked = { name: '', nowMs: clock.now() };
  return store
    .read(async (view) => (await judge(view, mount, presented, asked)).name)
    .catch(refusedAs(undefined));
}

async function admit(
  view: View,
  { mount, clock }: CertPorts,
  presented: Presented,
  { name, address }: CertAttempt,
): Promise<Admitted> {
  const admitted = await judge(view, mount, presented, { name, nowMs: clock.now() });
  requireWithin(admitted.role.token.token_bound_cidrs, address);
  if (presented.leaf.commonName === '') {
    throw invalid(ownWords('missing name in alias'), { hint: 'use a certificate with a common name' });
  }
  return admitted;
}

function loginOf({ mount }: CertPorts, { name, role }: Admitted, leaf: Certificate, address: string): Login {
  const { settings, token } = role;
  const told = settings.allowed_metadata_extensions.flatMap((type) => {
    const text = extensionText(leaf, type);
    return text === undefined ? [] : [[type.replaceAll('.', '-'), text]];
  });
  return {
    mount,
    path: `${mount.path}/login`,
    displayName: settings.display_name,
    meta: {
      ...Object.fromEntries(told),
      authority_key_id: leaf.authorityKeyId,
      cert_name: name,
      common_name: leaf.commonName,
      serial_number: leaf.serial,
      subject_key_id: leaf.subjectKeyId,
    },
    settings: settingsFrom(token, address),
    role: roleRef(mount, name),
    name,
    keepsPolicies: true,
    certifiedKey: keyIdOf(leaf),
  };
}

/** Returns an identifier of the public key, which is independent of the certificates for it. */
const keyIdOf = ({ x509 }: Certificate): string =>
  hash('sha256', x509.publicKey.export({ type: 'spki', format: 'der' }), 'base64');

/**
 * Requires the client certificate again when a token is renewed: it must match the role and have the key of the login.
 * Without this check, a stolen token could be renewed forever.
 * @param certificates client certificates of the connection
 */
export const certificateCheck =
  (certificates: ClientCertificates | undefined): KeyCheck =>
  async (view: View, mount: Mount, { name, certifiedKey }: TokenLogin, nowMs: number) => {
    const settings = await view.get<CertMountSettings>(settingsRef(mount));
    if (settings?.disable_binding) return;
    const presented = readPresented(certificates);
    if (name === undefined) throw nobodysCertificate();
    await judge(view, mount, presented, { name, nowMs });
    if (keyIdOf(presented.leaf) === certifiedKey) return;
    throw invalid(ownWords('client identity during renewal not matching client identity used during login'));
  };
