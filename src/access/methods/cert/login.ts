import { hash } from 'node:crypto';
import { invalid, ownWords, refusedAs, unlessRefused } from '../../../ground/errors.ts';
import type { Mount } from '../../../mounts/mount.ts';
import type { View } from '../../../store/store.ts';
import type { KeyCheck, Login } from '../../login/login-token.ts';
import { requireWithin } from '../../login/networks.ts';
import { settingsFrom } from '../../login/token-settings.ts';
import type { TokenLogin } from '../../token.ts';
import type { IssuedToken, Tokens } from '../../tokens.ts';
import type { Certificate } from '../../x509/certificate.ts';
import { type CertMountSettings, type CertPorts, roleRef, settingsRef } from './documents.ts';
import {
  type Admitted,
  type ClientCertificates,
  extensionText,
  judge,
  nobodysCertificate,
  type Presented,
  readPresented,
} from './judge.ts';

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
