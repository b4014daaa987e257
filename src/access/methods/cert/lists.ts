import {
  type CofferError,
  expected,
  failingAs,
  invalid,
  ownWords,
  unavailable,
} from '../../../ground/errors.ts';
import { collectionOf } from '../../../mounts/mounts.ts';
import type { ListOptions, View } from '../../../store/store.ts';
import { fetchOutside } from '../../login/fetch-outside.ts';
import { changeBelow } from '../../login/role-table.ts';
import type { Certificate } from '../../x509/certificate.ts';
import { parseRevocationList, type RevocationList, revocationListIn } from '../../x509/revocation-list.ts';
import { allIn, type CertPorts, type CertRole, type KeptList, listRef } from './documents.ts';
import { LISTS, ROLES } from './mount-type.ts';
import { certificatesOf } from './roles.ts';

/** Certificate revocation lists of a mount. */

/** Maximum size of a list in bytes, as received: some 100,000 certificates. */
const MOST_LIST_BYTES = 4 * 1024 * 1024;
/** Maximum length of a list as text, in characters: base64 is a third longer than the bytes. */
const MOST_TEXT = 2 * MOST_LIST_BYTES;

export const listLists = ({ store, mount }: CertPorts, options: ListOptions): Promise<readonly string[]> =>
  store.read((view) => view.list(collectionOf(mount, LISTS), options));

/**
 * Reads a list.
 * @throws `invalid` if it does not exist, as in Vault
 */
export async function readList({ store, mount }: CertPorts, name: string): Promise<KeptList> {
  const found = await store.read((view) => view.get<KeptList>(listRef(mount, name)));
  if (found === undefined) throw noList(name);
  return found;
}

/**
 * Deletes a list.
 * @throws `invalid` if it does not exist, as in Vault
 */
export async function removeList({ store, mount }: CertPorts, name: string): Promise<void> {
  await store.transact(async (tx) => {
    if ((await tx.get(listRef(mount, name))) === undefined) throw noList(name);
    tx.delete(listRef(mount, name));
  });
}

const noList = (name: string): CofferError => invalid(`no such CRL ${name}`, { field: 'name' });

/**
 * Stores a list given by the caller.
 * @returns warnings
 * @throws `invalid`
 */
export async function keepList(room: CertPorts, name: string, text: string): Promise<readonly string[]> {
  if (text.length > MOST_TEXT) throw unusable(`its text is longer than ${MOST_TEXT} characters`, 'crl');
  const list = failingAs(
    (error) => unparsed(expected(error).message),
    () => parseRevocationList(text),
  );
  await changeBelow(room, (tx) => tx.put(listRef(room.mount, name), kept(list)));
  const why = whyPartial(list);
  return why === undefined ? [] : [`the CRL may be incomplete: ${why}`];
}

/**
 * Fetches a list, now and whenever it becomes outdated.
 * @throws `invalid`, `unavailable`
 */
export async function followList(room: CertPorts, name: string, url: string): Promise<void> {
  const list = await fetched(room, url);
  await changeBelow(room, (tx) => tx.put(listRef(room.mount, name), kept(list, url)));
}

/**
 * Fetches outdated lists again. A list that cannot be fetched stays unchanged: its certificates are still revoked.
 * @returns failures and their reasons
 */
export async function refreshLists(
  room: CertPorts,
): Promise<readonly { readonly name: string; readonly reason: string }[]> {
  const nowMs = room.clock.now();
  const all = await room.store.read((view) => allIn<KeptList>(view, room.mount, LISTS));
  const failures: { name: string; reason: string }[] = [];
  for (const [name, { source }] of all) {
    if (source === undefined || (source.nextMs ?? Number.POSITIVE_INFINITY) > nowMs) continue;
    try {
      const list = await fetched(room, source.url);
      await room.store.transact(async (tx) => {
        const now = await tx.get<KeptList>(listRef(room.mount, name));
        // The list may have been removed or replaced in the meantime.
        if (now?.source?.url !== source.url) return;
        // A valid signature does not prove that a list is current: an attacker could replay last month's.
        if (list.sinceMs < (now.sinceMs ?? 0)) throw unusable('it is older than the stored one', 'url');
        tx.put(listRef(room.mount, name), kept(list, source.url));
      });
    } catch (error) {
      const { message, cause } = expected(error);
      // The reason may go to the server's log.
      failures.push({ name, reason: cause instanceof Error ? `${message}: ${cause.message}` : message });
    }
  }
  return failures;
}

/**
 * Fetches a list and verifies its signature if its issuer is known: an attacker on the network could otherwise serve a
 * list that lacks a certificate.
 */
async function fetched({ store, mount }: CertPorts, url: string): Promise<RevocationList> {
  const list = await fetchList(url, MOST_LIST_BYTES, revocationListIn);
  const why = whyPartial(list, url);
  // It would replace everything that was revoked before.
  if (why !== undefined)
    throw unusable(why, 'url', 'use the URL of a CRL that covers all certificates of its CA');
  const authorities = (await store.read((view) => authoritiesIn(view, mount))).filter(
    ({ subject }) => subject === list.issuer,
  );
  if (authorities.some((authority) => list.isSignedBy(authority))) return list;
  if (authorities.length > 0) {
    throw unusable(
      'it is not signed by the CA that it names as its issuer',
      'url',
      'check the URL; if the CA has a new key, create a role with its new certificate',
    );
  }
  if (url.startsWith('https:')) return list;
  throw unusable(
    'no role trusts the CA that signed it, so it cannot be verified',
    'url',
    'use an https URL, or first create a role with the certificate of that CA',
  );
}

/**
 * Returns why a list may be incomplete; undefined if it is complete. A list whose scope is the certificates that name
 * its own address is complete for that address.
 * @param url address it was fetched from, if any
 * @see docs/decisions/0249
 */
function whyPartial({ isDelta, scope, notUnderstood }: RevocationList, url?: string): string | undefined {
  if (isDelta) return 'delta CRLs are not supported';
  if (notUnderstood.length > 0) {
    return `it has an unsupported critical extension, ${notUnderstood.join(', ')}`;
  }
  if (scope === undefined) return undefined;
  const isOfAddress =
    url !== undefined && scope.addresses.some((address) => placeOf(address) === placeOf(url));
  return isOfAddress && !scope.isUnusual ? undefined : 'it covers only some certificates of its CA';
}

/** Normalizes a URL; `http` and `https` are the same location. */
function placeOf(address: string): string {
  if (!URL.canParse(address)) return address;
  const { host, pathname, search } = new URL(address);
  return `${host}${pathname}${search}`;
}

async function authoritiesIn(view: View, mount: CertPorts['mount']): Promise<readonly Certificate[]> {
  const roles = await allIn<CertRole>(view, mount, ROLES);
  return roles.flatMap(([, role]) => certificatesOf(role)).filter(({ isAuthority }) => isAuthority);
}

const kept = ({ issuer, serials, sinceMs, nextMs }: RevocationList, url?: string): KeptList => ({
  issuer,
  serials,
  sinceMs,
  source: url === undefined ? undefined : { url, nextMs },
});

const unparsed = (why: string): CofferError =>
  invalid(`failed to parse CRL: ${why}`, { field: 'crl', hint: 'use a CRL in PEM' });

/** Refuses a list that is well-formed, or was not even parsed. */
const unusable = (why: string, field: 'crl' | 'url', hint?: string): CofferError =>
  invalid(`cannot use the CRL: ${why}`, { field, hint });

const TIMEOUT_MS = 10_000;

/**
 * Fetches a URL on behalf of a caller who may write to the mount.
 * @param read parses the response; throws if it is malformed
 * @throws `invalid` for a URL that is not HTTP(S); `unavailable` if fetching fails: the reason is only in the cause,
 * because the caller could explore the server's network with it
 */
async function fetchList<T>(url: string, mostBytes: number, read: (bytes: Buffer) => T): Promise<T> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (url === '') throw invalid(ownWords('empty CRL url'), { field: 'url' });
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol)) {
    throw invalid(ownWords('invalid CRL url'), {
      field: 'url',
      hint: 'use a URL that begins with http:// or https://',
    });
  }
  try {
    return read(await fetchOutside(parsed, { withinMs: TIMEOUT_MS, mostBytes }));
  } catch (error) {
    throw failed(url, error);
  }
}

const failed = (url: string, cause: unknown): CofferError =>
  unavailable(`failed to fetch the CRL from ${url}`, {
    field: 'url',
    hint: "check from the server's machine that a CRL is at this URL; link-local addresses are not allowed",
    cause,
  });
