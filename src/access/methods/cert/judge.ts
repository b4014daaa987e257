import { invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import type { Mount } from '../../../mounts/mount.ts';
import type { View } from '../../../store/store.ts';
import type { Certificate } from '../../x509/certificate.ts';
import { type Chain, chainsTo } from '../../x509/chain.ts';
import { allIn, type CertRole, type KeptList, roleRef } from './documents.ts';
import { LISTS, ROLES } from './mount-type.ts';
import { nobodysCertificate, type Presented } from './presented.ts';
import { meets, strictness } from './requirements.ts';
import { certificatesOf, isPinned } from './roles.ts';

/** Role that matches a client. */
export interface Admitted {
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
export async function judge(
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
  const serials = compiled.get(list) ?? new Set(list.serials);
  compiled.set(list, serials);
  return serials.has(serial);
}
