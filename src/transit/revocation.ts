import { type CofferError, conflict, invalid, ownWords } from '../ground/errors.ts';
import type { Engine } from './engine.ts';
import type { NamedKeyDocument } from './key-document.ts';
import { changeKey, NamedKey } from './named-key.ts';
import { absentVersion } from './version-choice.ts';

/**
 * Revokes single versions of a key: a revoked one is not used to encrypt, decrypt, sign, verify or export until it is
 * reinstated. Other versions are not affected.
 * @see docs/decisions/0300
 */

/**
 * Revokes a version.
 * @throws `not-found`; `invalid` if there is no such version; `conflict` for the latest one, and for one that was
 * destroyed
 */
export const revokeVersion = (engine: Engine, name: string, number: number): Promise<NamedKey> =>
  changeVersion(engine, { name, number }, (key) => {
    const revoked = stateOf(key, number);
    if (revoked === null) throw absent(key, number);
    if (revoked !== undefined) return key;
    const { [number]: stopped, ...versions } = key.versions;
    if (stopped === undefined) throw absent(key, number);
    return { ...key, versions, revokedVersions: { ...key.revokedVersions, [number]: stopped } };
  });

/**
 * Reinstates a revoked version.
 * @throws as {@link revokeVersion}
 */
export const reinstateVersion = (engine: Engine, name: string, number: number): Promise<NamedKey> =>
  changeVersion(engine, { name, number, ofLatest: NEVER_REVOKED }, (key) => {
    const revoked = stateOf(key, number);
    if (key.versions[number] !== undefined) return key;
    if (!revoked) throw absent(key, number);
    const { [number]: _, ...others } = key.revokedVersions ?? {};
    const { revokedVersions: __, ...rest } = key;
    const left = Object.keys(others).length > 0 ? { revokedVersions: others } : {};
    return { ...rest, versions: { ...key.versions, [number]: revoked }, ...left };
  });

/**
 * Permanently destroys the key material of a version, revoked or not.
 * @throws as {@link revokeVersion}, except for one that was already destroyed
 */
export const destroyVersion = (engine: Engine, name: string, number: number): Promise<NamedKey> =>
  changeVersion(engine, { name, number }, (key) => {
    const revoked = stateOf(key, number);
    if (revoked === null) return key;
    const { [number]: stopped, ...versions } = key.versions;
    if (stopped === undefined && revoked === undefined) throw absent(key, number);
    return { ...key, versions, revokedVersions: { ...key.revokedVersions, [number]: null } };
  });

const stateOf = ({ revokedVersions }: NamedKeyDocument, number: number) => revokedVersions?.[String(number)];

const absent = (key: NamedKeyDocument, number: number): CofferError =>
  absentVersion(NamedKey.open(key), number, ownWords('no such key version'), FIELD);

const FIELD = 'version';

/** Hint for whoever reinstates the latest version. */
const NEVER_REVOKED = 'so it can be used, and there is nothing to reinstate';

function changeVersion(
  engine: Engine,
  { name, number, ofLatest }: { readonly name: string; readonly number: number; readonly ofLatest?: string },
  change: (key: NamedKeyDocument) => NamedKeyDocument,
): Promise<NamedKey> {
  return changeKey(engine, name, 'key not found', ({ document }) => {
    requireOldVersion(document, number, ofLatest);
    return change(document);
  });
}

/**
 * Checks that a version is stored and not the latest.
 * @throws `invalid` if there is no such version; `conflict` for the latest one
 */
export function requireOldVersion(
  {
    name,
    latestVersion,
    minAvailableVersion,
  }: Pick<NamedKeyDocument, 'name' | 'latestVersion' | 'minAvailableVersion'>,
  number: number,
  ofLatest = `run "coffer transit keys rotate ${name}" first; a key that does not encrypt needs --force`,
): void {
  const oldest = Math.max(1, minAvailableVersion);
  if (number < oldest || number > latestVersion) {
    throw invalid(ownWords('no such key version'), {
      field: FIELD,
      hint: oldVersions(oldest, latestVersion - 1),
    });
  }
  if (number < latestVersion) return;
  throw conflict(ownWords('the latest version of a key can be neither revoked nor destroyed'), {
    field: FIELD,
    hint: ofLatest,
  });
}

/** Names the versions that may be chosen; the latest is none of them. */
const oldVersions = (oldest: number, newest: number): string =>
  newest < oldest
    ? `this key has no version before ${newest + 1}`
    : newest === oldest
      ? `use version ${oldest}`
      : `use a version from ${oldest} to ${newest}`;
