import { decodeBase64 } from '../ground/base64.ts';
import type { Clock } from '../ground/clock.ts';
import { attempt, type CofferError, invalid, ownWords } from '../ground/errors.ts';
import { madeOnce } from '../ground/objects.ts';
import type { DocumentRef, Store, View } from '../store/store.ts';
import { Acl } from './acl.ts';
import { type Policy, parsePolicy } from './policy.ts';

/**
 * Built-in text of the `default` policy: what a token may do with itself. Attached to every token unless disabled at
 * creation.
 */
export const DEFAULT_POLICY = `# Every token may look up, renew and revoke itself.

path "auth/token/lookup-self" {
  capabilities = ["read", "update"]
}

path "auth/token/renew-self" {
  capabilities = ["update"]
}

path "auth/token/revoke-self" {
  capabilities = ["update"]
}

# Every token may ask what it is allowed to do.
path "sys/capabilities-self" {
  capabilities = ["update"]
}

# Every token may wrap a response for others, and unwrap one.
path "sys/wrapping/wrap" {
  capabilities = ["update"]
}

path "sys/wrapping/lookup" {
  capabilities = ["update"]
}

path "sys/wrapping/unwrap" {
  capabilities = ["update"]
}
`;

/** Text of the policy that only wrapping tokens have. */
const WRAPPING_POLICY = `path "sys/wrapping/unwrap" {
  capabilities = ["update"]
}
`;

/** Stored policy: the text as its author wrote it. */
interface PolicyDocument {
  readonly text: string;
  /** In milliseconds since the epoch. */
  readonly modified: number;
}

export const ROOT = 'root';
export const DEFAULT = 'default';
export const RESPONSE_WRAPPING = 'response-wrapping';

const COLLECTION = 'access/policies';
const builtIn: PolicyDocument = Object.freeze({ text: DEFAULT_POLICY, modified: 0 });
const ofWrapping: PolicyDocument = Object.freeze({ text: WRAPPING_POLICY, modified: 0 });
/** Pattern of policy names; other characters would break lists of names, paths and terminals. */
const NAME = /^[^\s,/\p{Cc}]+$/u;
/** Part of the message, because clients of Vault do not see hints. */
const ALLOWED = 'use up to 128 characters, without spaces, "," or "/"';
/** In characters. */
export const MAX_POLICY_NAME_LENGTH = 128;
/** Maximum number of cached combinations of policies. */
const KEPT_ACLS = 256;

const refOf = (name: string): DocumentRef => ({ collection: COLLECTION, id: name });

/** Vault's warning of a policy that a new token has, but that does not exist. */
export const missingPolicy = (name: string): string => `Policy "${name}" does not exist`;
const MISSING_POLICY = /^Policy "(.*)" does not exist$/;

/** Returns the name in a warning of `missingPolicy`; undefined for every other warning. */
export const missingPolicyIn = (warning: string): string | undefined => MISSING_POLICY.exec(warning)?.[1];

/** Normalizes a name: names are case-insensitive. */
export const policyName = (name: string): string => name.trim().toLowerCase();

/**
 * Returns the policy's normalized name.
 * @throws `invalid` for the built-in policies, which cannot be deleted
 */
export function requireOwnPolicy(name: string): string {
  const id = policyName(name);
  if (id === ROOT || id === RESPONSE_WRAPPING) throw fixed(`cannot delete "${id}" policy`);
  if (id === DEFAULT) throw fixed(ownWords('cannot delete default policy'));
  return id;
}

/** Policies of a store. `root` and `default` always exist. */
export class Policies {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #parsed = new WeakMap<PolicyDocument, Policy>();
  readonly #acls = new Map<string, { readonly documents: readonly unknown[]; readonly acl: Acl }>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Lists all names, sorted, with `root` at the end. */
  async list(): Promise<string[]> {
    const names = await this.#store.read((view) => view.list(COLLECTION));
    return [...new Set([DEFAULT, ...names])].sort().concat(ROOT);
  }

  /** Reads the text as written; empty for `root`, undefined for a policy that does not exist. */
  async read(name: string): Promise<string | undefined> {
    if (policyName(name) === ROOT) return '';
    return (await this.#store.read((view) => documentOf(view, policyName(name))))?.text;
  }

  /**
   * Creates or replaces a policy. Once this resolves, every request in any process is authorized by the new text.
   *
   * @param text HCL or JSON, or the base64 of either
   * @returns warnings for the author of a valid text
   * @throws `invalid` for a malformed text, an invalid name, and for `root`
   */
  async write(name: string, text: string): Promise<readonly string[]> {
    const { id, plain, warnings } = checkedPolicy(name, text);
    const document: PolicyDocument = { text: plain, modified: this.#clock.now() };
    await this.#store.transact((tx) => tx.put(refOf(id), document));
    return id === name ? warnings : [`policy name was converted to ${id}`, ...warnings];
  }

  /**
   * Deletes a policy; tokens that name it lose its permissions. Succeeds if it does not exist.
   * @returns whether it existed
   * @throws `invalid` for `root` and `default`
   */
  async delete(name: string): Promise<boolean> {
    const id = requireOwnPolicy(name);
    return this.#store.transact(async (tx) => {
      if ((await tx.get(refOf(id))) === undefined) return false;
      tx.delete(refOf(id));
      return true;
    });
  }

  /** Returns those of `names` that do not exist. */
  async missing(view: View, names: readonly string[]): Promise<string[]> {
    const found = await Promise.all(names.map((name) => documentOf(view, name)));
    return names.filter((name, index) => name !== ROOT && found[index] === undefined);
  }

  /**
   * Returns the compiled permissions of a token with these policies (sorted). The same object as long as none of them
   * changes.
   */
  async acl(view: View, names: readonly string[]): Promise<Acl> {
    if (names.includes(ROOT)) return Acl.root;
    const documents = await Promise.all(names.map((name) => documentOf(view, name)));
    const key = JSON.stringify(names);
    const known = this.#acls.get(key);
    if (known?.documents.every((document, index) => document === documents[index])) return known.acl;
    const found = documents.filter((document) => document !== undefined);
    const policies = found.map((document) =>
      madeOnce(this.#parsed, document, () => parsePolicy(document.text)),
    );
    const acl = new Acl(policies.flatMap(({ rules }) => rules));
    if (this.#acls.size >= KEPT_ACLS) this.#acls.clear();
    this.#acls.set(key, { documents, acl });
    return acl;
  }
}

async function documentOf(view: View, name: string): Promise<PolicyDocument | undefined> {
  if (name === RESPONSE_WRAPPING) return ofWrapping;
  return (await view.get<PolicyDocument>(refOf(name))) ?? (name === DEFAULT ? builtIn : undefined);
}

/**
 * Checks a policy before it is stored.
 * @returns its normalized name, its text without base64, and warnings for its author
 * @throws as `write`
 */
export function checkedPolicy(name: string, text: string) {
  const id = checkedName(name);
  if (id === ROOT || id === RESPONSE_WRAPPING) throw fixed(`cannot update "${id}" policy`);
  const plain = unwrapBase64(text);
  if (plain === '') throw invalid(ownWords("'policy' parameter not supplied or empty"), { field: 'policy' });
  const { warnings } = parsePolicy(plain);
  return { id, plain, warnings };
}

function checkedName(name: string): string {
  const id = policyName(name);
  if (id.length > MAX_POLICY_NAME_LENGTH || !NAME.test(id)) {
    throw invalid(`policy name ${JSON.stringify(name)} is not allowed: ${ALLOWED}`, { field: 'name' });
  }
  return id;
}

const fixed = (message: string): CofferError => invalid(message, { field: 'name' });

/**
 * Decodes base64, in which some clients send the text. Policies contain quotes, so they are not mistaken for base64.
 */
function unwrapBase64(text: string): string {
  if (/[^A-Za-z0-9+/=\r\n]/.test(text)) return text;
  return attempt(() => {
    const bytes = decodeBase64(text);
    const decoded = bytes.toString('utf8');
    return Buffer.from(decoded).equals(bytes) ? decoded : text;
  }, text);
}
