import { type Stats, statSync } from 'node:fs';
import { isThere } from '../../ground/directories.ts';
import type { FileFormat } from '../../secret-files/format.ts';
import { MAX_FILE_BYTES } from '../../secret-files/formats.ts';
import type { Rule } from '../../secret-files/rules.ts';
import { readFileWhole } from '../files/in-file.ts';
import { refuseWayOut } from '../repository/files-of-others.ts';
import { requireRules } from '../secret-files/left-readable.ts';
import { Rulebook } from '../secret-files/rulebook.ts';
import { FILE, formatFor, replaceSecretFile, textOf } from '../secret-files/secret-file.ts';
import type { Session } from '../session.ts';

/** File that is edited. */
export interface EditTarget {
  /** Path with links resolved. */
  readonly path: string;
  /** Path as typed, for messages. */
  readonly name: string;
  readonly format: FileFormat;
  readonly rule: Rule | undefined;
  readonly rulebook: Rulebook;
}

/** Content of the file on disk. */
interface Present {
  readonly text: string;
  readonly bytes: Buffer;
  readonly stats: Stats;
}

/**
 * Returns the file to edit.
 * @throws `unsupported` if neither name nor rules tell the format; `invalid` for invalid rules, and for a link that
 * leaves the repository
 */
export async function targetOf(session: Session, name: string, path: string): Promise<EditTarget> {
  refuseWayOut(name, name);
  const rulebook = new Rulebook(session);
  const rule = await rulebook.ruleFor(path);
  await requireRules(session, rulebook, { path });
  return { path, name, rule, rulebook, format: await formatFor(name, rule?.format) };
}

/** Reads the file; undefined if it does not exist. */
export function presentOf({ path, name }: EditTarget): Present | undefined {
  if (!isThere(path)) return undefined;
  const stats = statSync(path);
  const bytes = readFileWhole(path, FILE, MAX_FILE_BYTES + 1);
  return { text: textOf(name, bytes), bytes, stats };
}

/**
 * Replaces the file.
 * @throws `conflict` or `exists` if it was changed meanwhile
 */
export async function writeTarget(
  { path }: EditTarget,
  now: Present | undefined,
  text: string,
): Promise<void> {
  await replaceSecretFile({ path, ...(now ?? { bytes: Buffer.alloc(0), stats: undefined }) }, text);
}
