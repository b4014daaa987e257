import { invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import type { Mount } from '../../../mounts/mount.ts';
import type { View } from '../../../store/store.ts';
import type { KeyCheck } from '../../login/login-token.ts';
import type { TokenLogin } from '../../token.ts';
import { type CertMountSettings, settingsRef } from './documents.ts';
import { judge } from './judge.ts';
import { keyIdOf } from './login.ts';
import { type ClientCertificates, nobodysCertificate, readPresented } from './presented.ts';

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
