/* How a terminal shows keys: a few lines for a person, where programs get every setting. */

import { asCofferError } from '../../ground/errors.ts';
import { type Runner, resultOf, type TerminalContext } from '../declaration/operation.ts';
import type { Cell, Table } from '../declaration/table.ts';
import { type KeyData, keyTable, versionTime } from './key-data.ts';

/**
 * Maximum number of keys whose details are looked up for a list, except with `-o wide`: each is a request of its own on
 * a server.
 */
const MAX_DETAILED = 100;
/** Number of keys that are looked up in parallel. */
const AT_ONCE = 8;
/** Number of latest versions that are shown for a key. */
const MAX_VERSIONS = 10;

/**
 * Returns a table of keys with their types, latest versions and ages; only of the names if there are very many. The
 * details of a key that the caller may not read are empty.
 */
export async function keyListTable(
  { keys }: { readonly keys: readonly string[] },
  { runner, wide }: TerminalContext,
): Promise<readonly Table[]> {
  const names = (): Table => ({ head: ['Name'], rows: keys.map((name) => [name]), whole: 0 });
  if (!wide && keys.length > MAX_DETAILED) return [names()];
  const found: (KeyData | Unread)[] = [];
  for (let next = 0; next < keys.length && !found.includes('denied'); next = found.length) {
    // The first one alone: a server records each refusal, so one is enough.
    const part = keys.slice(next, next === 0 ? 1 : next + AT_ONCE);
    found.push(...(await Promise.all(part.map((name) => detailsOf(runner, name)))));
  }
  const rows = keys.map((name, at): readonly Cell[] => {
    const data = found[at];
    if (typeof data !== 'object') return [name, data === 'damaged' && !wide ? 'damaged' : '', '', '', ''];
    return [name, ...detailCells(data), ...createdCells(data)];
  });
  const isEmpty = rows.every(([, type]) => type === '');
  const head = ['Name', 'Type', 'Latest version', 'Created', 'Rotated'];
  return [isEmpty ? names() : { head, rows, whole: 0, lesser: [3, 4, 2, 1] }];
}

/** Why a key has no details; undefined if another process has deleted it since. */
type Unread = 'denied' | 'damaged' | undefined;

async function detailsOf(runner: Runner, name: string): Promise<KeyData | Unread> {
  try {
    return resultOf(await runner.run('transit keys read', { name })) as KeyData;
  } catch (error) {
    const kind = asCofferError(error)?.kind;
    if (kind === 'denied') return 'denied';
    if (kind === 'not-found') return undefined;
    // A damaged key must not hide the others.
    if (kind === 'corrupt') return 'damaged';
    throw error;
  }
}

const detailCells = (data: KeyData): readonly Cell[] => [
  data.soft_deleted ? `${data.type} (deleted)` : data.type,
  String(data.latest_version),
];

/** Returns when a key was created, as far as the versions that it still has tell that, and last rotated. */
function createdCells(data: KeyData): readonly Cell[] {
  const { keys = {}, latest_version: latest } = data;
  const rotated = createdCell({ keys }, latest);
  if (latest === 1) return [rotated, ''];
  const [oldest = ''] = Object.values(keys).map(versionTime).sort();
  if (oldest === '' || keys['1'] !== undefined) return [createdCell({ keys }, 1), rotated];
  // A key is often revoked on the day that it was created: no date is better than a false one.
  if (refusedVersions(data).includes(1)) return ['', rotated];
  // The first version may have been created on the same day.
  return [`≤ ${oldest.slice(0, 'YYYY-MM-DD'.length)}`, rotated];
}

/** Returns the creation time of a version; empty for one that the key no longer has. */
function createdCell({ keys = {} }: Pick<KeyData, 'keys'>, version: number): Cell {
  const made = keys[String(version)];
  return made === undefined ? '' : { time: versionTime(made) };
}

/** Returns what matters most about a key, and its latest versions; with `-o wide`, every setting. */
export async function keyViews(data: KeyData, { wide }: TerminalContext): Promise<readonly Table[]> {
  if (wide) return [keyTable(data)];
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Name', data.name],
    ['Type', data.parameter_set ? `${data.type} (${data.parameter_set})` : data.type],
    ['Latest version', String(data.latest_version)],
    ['Used for', usesOf(data)],
    ['Allowed', allowedOf(data) || undefined],
    ['Not allowed', allowedOf(data) === '' ? 'deletion, export' : undefined],
    ['Tags', data.tags?.join(' ')],
    ['Derived', data.derived ? derivedText(data) : undefined],
    ['Rotated', data.auto_rotate_period > 0 ? `every ${data.auto_rotate_period}s` : undefined],
    ['Imported', data.imported_key ? 'yes' : undefined],
    ['Deleted', data.soft_deleted ? 'yes, can be restored' : undefined],
  ];
  const rows = facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return [{ head: ['', ''], rows }, versionTable(data)];
}

const joined = (parts: readonly (readonly [boolean | undefined, string])[]): string =>
  parts.flatMap(([holds, text]) => (holds ? [text] : [])).join(', ');

const usesOf = (data: KeyData): string =>
  joined([
    [data.supports_encryption, 'encryption'],
    [data.supports_signing, 'signing'],
  ]) || 'HMAC';

const allowedOf = (data: KeyData): string =>
  joined([
    [data.deletion_allowed, 'deletion'],
    [data.exportable, 'export'],
    [data.allow_plaintext_backup, 'plaintext backup'],
  ]);

const derivedText = (data: KeyData): string =>
  data.convergent_encryption ? 'a key for each context, convergent' : 'a key for each context';

function versionTable(data: KeyData): Table {
  const { keys = {}, messages = {}, name } = data;
  const retired = retiredRow(data);
  // The result names these without a date. A row of retired versions includes those that are older.
  const refused = refusedVersions(data).filter(
    (version) => retired.length === 0 || version >= data.min_decryption_version,
  );
  const numbers = [...new Set([...Object.keys(keys).map(Number), ...refused])].sort((a, b) => b - a);
  const shown = numbers.slice(0, MAX_VERSIONS);
  const rows = shown.map((number): readonly Cell[] => {
    const count = messages[String(number)];
    return [
      String(number),
      createdCell(data, number),
      stateOf(data, number) + (count === undefined ? '' : `, about ${count} messages`),
    ];
  });
  const older = numbers.length - shown.length;
  if (older === 0) rows.push(...retired);
  const rest = older === 0 ? '' : `${older} older versions, and `;
  return {
    head: ['Version', 'Created', 'State'],
    rows,
    lesser: [1],
    summary: `${rest === '' ? 'All' : `${rest}all`} settings: coffer transit keys read ${name} -o wide`,
  };
}

const refusedVersions = (data: KeyData): readonly number[] => [
  ...(data.revoked_versions ?? []),
  ...(data.destroyed_versions ?? []),
];

/** Returns a row for the versions that the result leaves out, as Vault's does: they exist, but no longer decrypt. */
function retiredRow({ keys = {}, ...data }: KeyData): readonly (readonly Cell[])[] {
  const first = Math.max(1, data.min_available_version);
  const last = data.min_decryption_version - 1;
  if (last < first || Object.hasOwn(keys, String(last))) return [];
  const versions = first === last ? String(first) : `${first}-${last}`;
  return [[versions, '', 'retired (below min-decryption-version)']];
}

function stateOf(data: KeyData, version: number): string {
  if (data.revoked_versions?.includes(version)) return 'revoked';
  if (data.destroyed_versions?.includes(version)) return 'destroyed';
  if (version === data.latest_version) return 'latest';
  return version < data.min_decryption_version ? 'disabled' : 'enabled';
}
