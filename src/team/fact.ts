import { createHash } from 'node:crypto';
import { KEYRING_KEY_TYPE } from '../transit/key-types/key-type.ts';
import { ID, idOf, isKeyName, isName } from './names.ts';
import { isRecipient, isSigner } from './recipients.ts';

/*
 * A fact is a file with one statement: bob is a member, bob was removed, key app has a version 3. It is never changed,
 * and named by the hash of its content. This module parses and prints facts; other modules judge whether they are
 * valid.
 * @see docs/team-format.md
 */

const KINDS = ['store', 'member', 'removal', 'slot', 'version'] as const;
export type FactKind = (typeof KINDS)[number];

/** Card that a fact refers to: its ID, and its name. */
export interface CardReference {
  readonly id: string;
  readonly name: string;
}

/** Identity of a member, in the first fact and in those of members. */
export type Card = Readonly<ReturnType<typeof cardOf>>;

/** Version of a key. */
export interface VersionOfKey {
  readonly key: string;
  readonly number: number;
  readonly type: string;
  /** Epoch whose root key encrypts the material. */
  readonly under: string;
  readonly material: string;
}

export interface Fact {
  readonly id: string;
  /** Kind of the fact. `newer` is unknown to this version: it has a place in the order, but no effect. */
  readonly kind: FactKind | 'newer';
  /** Reason why it is `newer`. */
  readonly newer?: string;
  /** Path below the directory of the keyring. */
  readonly path: string;
  readonly message: string;
  /** Base64 of an SSH signature, as read. */
  readonly signature: string;
  /** Digest of message and signature, which identifies a verified fact. */
  readonly digest: string;
  /** Keyring that it belongs to. */
  readonly store: string;
  /** Facts that it follows. */
  readonly after: readonly string[];
  /** Card of its author; its own ID for the first fact. */
  readonly by: string;
  /** Creation time as claimed by the author. */
  readonly at: string;
  /** Every card that it refers to, including the author's. */
  readonly references: readonly CardReference[];
  readonly card?: Card;
  /** Removal: removed cards. */
  readonly without: readonly CardReference[];
  /** Removal and slot: cards that its root key is encrypted to. */
  readonly for: readonly CardReference[];
  /** Epoch: check value that identifies its root key. */
  readonly check?: string;
  /** Removal: earlier root keys, sealed under its own. */
  readonly older?: string;
  /** Member and slot: epoch whose root key is granted. */
  readonly root?: string;
  readonly version?: VersionOfKey;
  /** Age files as text, each with a root key; empty for a version. */
  readonly armor: string;
}

export type CardFact = Fact & { readonly card: Card };
export type VersionFact = Fact & { readonly version: VersionOfKey };

export const isCard = (fact: Fact | undefined): fact is CardFact => fact?.card !== undefined;
export const isVersion = (fact: Fact): fact is VersionFact => fact.version !== undefined;
/** Whether a fact begins an epoch, which has a root key of its own: the first fact, and each removal. */
export const isEpoch = ({ kind }: Fact): boolean => kind === 'store' || kind === 'removal';
/** Whether a removal removes a card; others only merge epochs. */
export const takesOut = ({ without }: Fact): boolean => without.length > 0;

export const MAX_FACT_BYTES = 1 << 20;
/** Only key type of versions. */
export const KEY_TYPE = KEYRING_KEY_TYPE;
/** Syntax of key types, which other versions of Coffer may have. */
const TYPE = /^[a-z0-9][a-z0-9-]{0,31}$/;
const AT = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const NUMBER = /^[1-9]\d{0,8}$/;
const ARMOR_LINE = /^[A-Za-z0-9+/=]{1,64}$/;
const ARMOR_BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----';
const ARMOR_END = '-----END AGE ENCRYPTED FILE-----';
/** Control characters except the line feed. */
const CONTROLS = /(?!\n)\p{Cc}/u;
const FIRST = /^coffer team 1 ([a-z]{1,32})$/;
const LINE = /^([a-z]{1,32}) (.+)$/;

/** Number of occurrences of a field: exactly one, at most one, at least one, or any. */
type FieldCount = 'one' | 'may' | 'many' | 'any';
const COMMON = { store: 'one', after: 'one', epoch: 'one', by: 'one', at: 'one' } as const;
const FIELDS: Readonly<Record<FactKind, Readonly<Record<string, FieldCount>>>> = {
  store: { at: 'one', name: 'one', key: 'many', sign: 'one', secret: 'may', check: 'one' },
  member: { ...COMMON, name: 'one', role: 'one', key: 'many', sign: 'may', secret: 'may', root: 'one' },
  removal: { ...COMMON, without: 'any', for: 'many', check: 'one', older: 'one' },
  slot: { ...COMMON, for: 'one', root: 'one' },
  version: { ...COMMON, key: 'one', version: 'one', type: 'one', under: 'one', material: 'one' },
};
const LARGEST_TITLE = 80;

/** Thrown if a file is not a fact; the message follows the file name. */
export class NoFact extends Error {}

const refuse = (why: string): never => {
  throw new NoFact(why);
};

/**
 * Parses a file as a fact.
 * @param path path below the directory of the keyring: each fact has exactly one
 * @param isAnywhere whether the file may be at another path: that of the result is then the right one
 * @throws NoFact
 */
export function parseFact(bytes: Buffer, path: string, isAnywhere = false): Fact {
  if (bytes.length > MAX_FACT_BYTES) refuse('is more than 1 MiB');
  const raw = bytes.toString('utf8');
  if (!Buffer.from(raw, 'utf8').equals(bytes)) refuse('is not UTF-8');
  const text = raw.replaceAll('\r\n', '\n');
  if (CONTROLS.test(text)) refuse('has control characters');
  const cut = text.lastIndexOf('\nsignature ') + 1;
  const signature = text.slice(cut + 'signature '.length, -1);
  if (cut === 0 || !text.endsWith('\n') || signature.includes('\n')) refuse('does not end with a signature');
  const message = text.slice(0, cut);
  const digest = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  const said = parseMessage(message);
  const id = idOf(message);
  const own = isAnywhere && said.title !== undefined ? `${said.title}.${id}` : path;
  const place = { id, message, signature, digest, path: own };
  const fact: Fact = { ...said, ...place, ...(said.kind === 'store' && ownOf(place.id)) };
  const isRight = said.title === undefined ? own.endsWith(`.${fact.id}`) : own === `${said.title}.${fact.id}`;
  if (!isRight) refuse(`was renamed or modified: its content belongs in ${said.title ?? '…'}.${fact.id}`);
  return fact;
}

/** The first fact is its own author, in a keyring with its ID. */
const ownOf = (id: string) => ({ store: id, by: id });

type Said = Omit<Fact, 'id' | 'message' | 'signature' | 'digest' | 'path'> & {
  /** Path without the ID; undefined if it is unknown to this version. */
  readonly title: string | undefined;
};

/**
 * Parses a message.
 * @throws NoFact
 */
function parseMessage(message: string): Said {
  const begin = message.indexOf('\n-----BEGIN ');
  const [head, armor] = begin < 0 ? [message, ''] : [message.slice(0, begin + 1), message.slice(begin + 1)];
  const [first = '', ...lines] = head.slice(0, -1).split('\n');
  const word = FIRST.exec(first)?.[1] ?? refuse('is not a file of a keyring');
  const kind = KINDS.find((known) => known === word);
  const fields = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return refuse('has an invalid line');
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  if (kind === undefined) {
    return {
      ...commonOf(fields),
      ...NOTHING,
      kind: 'newer',
      newer: `of an unknown kind (${word})`,
      title: undefined,
    };
  }
  let newer = refuseFields(kind, fields);
  const said = { ...commonOf(fields, kind), ...NOTHING, ...MEANINGS[kind](fields), kind, armor };
  if (kind === 'version' ? armor !== '' : !isArmor(armor)) refuse('has an incomplete age file');
  const title = titleOf(kind, said);
  if (said.version !== undefined && said.version.type !== KEY_TYPE)
    newer ??= `of an unknown key type (${said.version.type})`;
  if (newer === undefined) return { ...said, title };
  return { ...commonOf(fields, kind), ...NOTHING, kind: 'newer', newer, title };
}

/** Whether a text consists of complete age files, one after another. */
function isArmor(armor: string): boolean {
  const lines = armor.split('\n');
  let begun = -1;
  for (const [index, line] of lines.slice(0, -1).entries()) {
    if (begun < 0 && line === ARMOR_BEGIN) begun = index;
    else if (begun >= 0 && line === ARMOR_END && index > begun + 1) begun = -1;
    else if (begun < 0 || !ARMOR_LINE.test(line)) return false;
  }
  return lines.length > 1 && lines.at(-1) === '' && begun < 0;
}

const NOTHING = { without: [], for: [], armor: '' } as const;

/**
 * Checks the fields.
 * @returns reason why the fact is of a newer format, if it is
 * @throws NoFact for missing fields, or too many occurrences
 */
function refuseFields(kind: FactKind, fields: ReadonlyMap<string, readonly string[]>): string | undefined {
  for (const [name, times] of Object.entries(FIELDS[kind])) {
    const count = fields.get(name)?.length ?? 0;
    if (count === 0 && (times === 'one' || times === 'many')) refuse(`has no field ${name}`);
    if (count > 1 && (times === 'one' || times === 'may')) refuse(`has the field ${name} twice`);
  }
  const unknown = [...fields.keys()].find((name) => !Object.hasOwn(FIELDS[kind], name));
  return unknown === undefined ? undefined : `of an unknown form, with the field ${unknown}`;
}

type FactFields = ReadonlyMap<string, readonly string[]>;

/** Parses the fields that every fact has. The first one follows nothing, and is its own author. */
function commonOf(fields: FactFields, kind?: FactKind) {
  const at = one(fields, 'at');
  if (!AT.test(at)) refuse('has an invalid time');
  if (kind === 'store') return { store: '', after: [], by: '', at, references: [] };
  const by = referenceOf(one(fields, 'by'));
  idsOf(one(fields, 'epoch'));
  return {
    store: idIn(one(fields, 'store')),
    after: idsOf(one(fields, 'after')),
    by: by.id,
    at,
    references: [by],
  };
}

const MEANINGS: Readonly<Record<FactKind, (fields: FactFields) => Partial<Said>>> = {
  store: (fields) => ({ card: cardOf(fields, 'admin'), check: idIn(one(fields, 'check')) }),
  member(fields) {
    const role = one(fields, 'role');
    if (role !== 'user' && role !== 'admin') return refuse('has an invalid role');
    return { card: cardOf(fields, role), root: idIn(one(fields, 'root')) };
  },
  removal(fields) {
    const given = referencesOf(fields, 'for');
    const out = referencesOf(fields, 'without');
    if (out.some(({ id }) => given.some((other) => other.id === id)))
      refuse('gives keys to a member that it removes');
    return {
      without: out,
      for: given,
      references: [referenceOf(one(fields, 'by')), ...out, ...given],
      check: idIn(one(fields, 'check')),
      older: base64In(one(fields, 'older'), 'older'),
    };
  },
  slot(fields) {
    const given = referencesOf(fields, 'for');
    const references = [referenceOf(one(fields, 'by')), ...given];
    return { for: given, references, root: idIn(one(fields, 'root')) };
  },
  version(fields) {
    const [key, number, type] = [one(fields, 'key'), one(fields, 'version'), one(fields, 'type')];
    if (!isKeyName(key)) refuse('has an invalid key name');
    if (!NUMBER.test(number)) refuse('has an invalid key version');
    if (!TYPE.test(type)) refuse('has an invalid type');
    const [under, material] = [idIn(one(fields, 'under')), base64In(one(fields, 'material'), 'material')];
    return { version: { key, number: Number(number), type, under, material } };
  },
};

function cardOf(fields: FactFields, role: 'user' | 'admin') {
  const name = one(fields, 'name');
  if (!isName(name)) refuse('has an invalid name');
  const keys = fields.get('key') ?? [];
  if (new Set(keys).size < keys.length) refuse('has a duplicate key');
  if (!keys.every(isRecipient)) refuse('has an invalid key in the field key');
  const [sign, secret] = [fields.get('sign')?.[0], fields.get('secret')?.[0]];
  if (role === 'admin' && sign === undefined) refuse('names an admin without a signing key');
  if (role !== 'admin' && sign !== undefined) refuse('has a signing key, but its member is not an admin');
  const isOwn = sign !== undefined && keys.includes(sign);
  // One of its keys was checked above, which takes half of the time that parsing a card takes.
  const isCheckedKey = isOwn && sign.startsWith('ssh-ed25519 ');
  if (sign !== undefined && !isCheckedKey && !isSigner(sign)) refuse('has an invalid signing key');
  if ((secret !== undefined) !== (sign !== undefined && !isOwn))
    refuse('has an unusable or duplicate signing key');
  return {
    name,
    role,
    /** Public keys that secrets for this member are encrypted to. */
    keys,
    /** Public signing key; only admins have one. */
    sign,
    /** Private signing key as an age file for `keys`, in base64; undefined if one of these keys signs. */
    secret: secret === undefined ? undefined : base64In(secret, 'secret'),
  };
}

const one = (fields: FactFields, name: string): string =>
  fields.get(name)?.[0] ?? refuse(`has no field ${name}`);
const idIn = (text: string): string => (ID.test(text) ? text : refuse('has an invalid ID'));
const base64In = (text: string, field: string): string =>
  text.length > 0 && BASE64.test(text) ? text : refuse(`has invalid base64 in the field ${field}`);

/** Parses IDs, which must be sorted, so that the same IDs always have the same text. */
function idsOf(text: string): readonly string[] {
  const ids = text.split(' ').map(idIn);
  if (ids.some((id, index) => index > 0 && id <= (ids[index - 1] ?? '')))
    refuse('has IDs that are not sorted');
  return ids;
}

function referenceOf(text: string): CardReference {
  const [id = '', name = '', ...more] = text.split(' ');
  if (more.length > 0 || !isName(name)) return refuse('has an invalid reference to a member');
  return { id: idIn(id), name };
}

function referencesOf(fields: FactFields, name: string): readonly CardReference[] {
  const found = (fields.get(name) ?? []).map(referenceOf);
  if (new Set(found.map(({ id }) => id)).size < found.length)
    refuse(`names a member twice in the field ${name}`);
  return found;
}

function titleOf(kind: FactKind, said: Partial<Said>): string {
  switch (kind) {
    case 'store':
      return 'store';
    case 'member':
      return `members/${said.card?.name}`;
    case 'slot':
      return `members/${said.for?.[0]?.name}.slot`;
    case 'version':
      return `keys/${said.version?.key}.v${said.version?.number}`;
    case 'removal': {
      const names = [...new Set(said.without?.map(({ name }) => name))].sort();
      return `removals/${names.join('+').slice(0, LARGEST_TITLE) || 'united'}`;
    }
  }
}

/**
 * Prints a message to be signed.
 * @param fields in order; a list has a line for each entry
 */
export function printMessage(
  kind: FactKind,
  fields: readonly (readonly [name: string, value: string | number | readonly string[] | undefined])[],
  armor = '',
): string {
  const lines = fields.flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((text) => `${name} ${text}\n`),
  );
  return `coffer team 1 ${kind}\n${lines.join('')}${armor}`;
}

/** Prints a complete file. */
export const printFact = (message: string, signature: string): string => `${message}signature ${signature}\n`;

/**
 * Returns the path of a fact, below the directory of the keyring.
 * @throws NoFact for a malformed message
 */
export const pathOf = (message: string): string => `${parseMessage(message).title}.${idOf(message)}`;

/** Returns the IDs of the facts that a fact follows or needs: its author's card and root keys. */
export const idsNeededBy = ({ after, by, root, version }: Fact): readonly string[] =>
  [...after, by, root, version?.under].filter((id) => id !== undefined);
