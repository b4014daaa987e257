import { unsupported } from '../../ground/errors.ts';
import { findIdentities, type Identities } from '../secrets/identities.ts';
import { namedIdentities } from '../secrets/named-identities.ts';
import type { Session } from '../session.ts';

/**
 * Returns the private keys that can open a keyring. Those of age plugins cannot: cards have no public keys of plugins.
 * @param path file of `--identity`
 * @throws as `findIdentities`; `unsupported` if there are only keys of plugins
 */
export async function keyringIdentities(session: Session, path?: string): Promise<Identities> {
  const identities = await findIdentities(session, namedIdentities(session.environment, path));
  const keys = identities.keys.filter(({ plugin }) => plugin === undefined);
  if (keys.length > 0 || identities.keys.length === 0) return { ...identities, keys };
  throw unsupported('keys of age plugins cannot be used for keyrings yet', {
    hint: 'use an SSH key, or an AGE-SECRET-KEY-',
  });
}
