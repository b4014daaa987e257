import { closeSync, fstatSync, openSync, statSync, write } from 'node:fs';
import { isRegularFile } from '../../ground/directories.ts';
import { closing, invalid, throwing } from '../../ground/errors.ts';
import { answered } from '../../ground/pause.ts';
import { isAge } from '../../transit/envelope/age/detect.ts';
import type { AgeIdentity, AnyRecipient } from '../../transit/envelope/age/recipients.ts';
import { type DataKeys, Lookahead, type RewritableFile } from '../../transit/envelope/ports.ts';
import { rewrapEnvelope } from '../../transit/envelope/rewrap.ts';
import { type Command, takingFile } from '../command.ts';
import { openingOptions, RECIPIENT, recipientOption, refuseIdentities } from '../envelope/age-options.ts';
import { decryptedNames, forEachFile, inputsOf, openingOf } from '../envelope/jobs.ts';
import { contextOptions, expectedKey, namingTyped, once } from '../envelope/options.ts';
import { openInFile, readFully } from '../files/in-file.ts';
import { flush, throughOutFile, writeFailure } from '../files/out-file.ts';
import { jsonText } from '../files/output.ts';
import { type Given, textsOption } from '../given.ts';
import { IN } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';

export const command: Command = {
  arguments: [expectedKey],
  options: [
    takingFile(IN, 'Files to rewrap; in directories, all *.coffer and *.age files, recursively.', {
      takes: 'values',
    }),
    {
      ...recipientOption,
      help: 'Replace all recipients of an age file by this one: age1…, an SSH public key, the name of a key, or @FILE with one per line. Can be repeated.',
    },
    ...openingOptions,
    ...contextOptions,
  ],
  details:
    'Rewrites only the header of each file, in place, so the time does not depend on the file size. The data is ' +
    'not decrypted; the store or server re-encrypts the data key without revealing it. If an earlier rewrap was ' +
    'interrupted, the header is repaired. For a file in the age format, replaces the recipients by writing a new ' +
    'file; its data is not decrypted. Former recipients with a copy of the old file can still decrypt it.',
  examples: [
    [
      'coffer transit envelope rewrap --in dump.sql.coffer',
      'Re-encrypt the data key after rotating the named key',
    ],
    [
      'coffer transit envelope rewrap orders --in backups',
      'Rewrap all files in a directory; fail for files that need another key than "orders"',
    ],
    [
      'coffer transit envelope rewrap --in dump.sql.age --recipient @team.txt --recipient inbox',
      'Replace the recipients with those in team.txt and the key "inbox"',
    ],
  ],
  async run(session, typed) {
    const { options, name, keys, identities } = await openingOf(session, typed, 'rewrap');
    if (textsOption(options, IN).length === 0) {
      const isFile = name !== undefined && isRegularFile(name);
      const hint = isFile
        ? `run "coffer transit envelope rewrap --in ${shellWord(name)}"`
        : 'name the files with --in';
      throw invalid('no file to rewrap', { field: IN, hint });
    }
    const inputs = await namingTyped(typed, async () => inputsOf(options, decryptedNames.isMeant));
    const files = inputs.map(({ path }) => ({ from: fileOf(path) }));
    const others = once(() => othersOf(session, options, identities));
    const { results, exitCode } = await forEachFile(session, files, async ({ from }) => {
      if (await isAgeFile(from)) return rewrapForOthers(from, await others());
      if (options.has(RECIPIENT)) throw noRecipients(from);
      refuseIdentities(options);
      return rewrap(from, await keys(), name);
    });
    if (session.settings.format === 'json') {
      session.streams.out.write(jsonText({ files: results }, session.streams.out.isTerminal));
    } else {
      for (const result of results) session.remark(toldOf(result));
    }
    return exitCode;
  },
};

const noRecipients = (path: string) =>
  invalid(`${path} is not an age file, and only those have recipients`, {
    field: RECIPIENT,
  });

const toldOf = (
  result: { readonly in: string } & (
    | { from?: number | undefined; to?: number | undefined }
    | { recipients: number }
  ),
): string =>
  'recipients' in result
    ? `${result.in}: now encrypted for ${result.recipients} ${result.recipients === 1 ? 'recipient' : 'recipients'}.`
    : result.from === result.to
      ? `${result.in}: already encrypted with the latest key version (${result.to}).`
      : `${result.in}: rewrapped from key version ${result.from} to ${result.to}.`;

const isAgeFile = (path: string): Promise<boolean> =>
  closing(openInFile(path, IN), (file) => isAge(new Lookahead(file)));

interface Others {
  readonly identities: readonly AgeIdentity[];
  readonly recipients: readonly AnyRecipient[];
}

async function othersOf(
  session: Session,
  options: Given['options'],
  identities: () => Promise<readonly AgeIdentity[]>,
): Promise<Others> {
  if (!options.has(RECIPIENT)) {
    throw invalid('an age file does not list its recipients, so --recipient is required', {
      field: RECIPIENT,
      hint: 'name every recipient that is to decrypt the file, each with --recipient',
    });
  }
  const { recipientsOf } = await import('../envelope/age-recipients.ts');
  return { recipients: await recipientsOf(session, options), identities: await identities() };
}

/**
 * Rewraps a file for other recipients. The new file replaces the old one once it is complete.
 * @see docs/decisions/0164
 */
async function rewrapForOthers(path: string, { identities, recipients }: Others) {
  const { readAge, rewrapAge } = await import('../../transit/envelope/age/file.ts');
  await closing(openInFile(path, IN), async (file) => {
    const opened = await readAge(new Lookahead(file));
    const place = { path, replace: true, mode: statSync(path).mode & 0o777, field: IN };
    await throughOutFile(place, (out) =>
      rewrapAge(opened, identities, recipients, { write: (bytes) => out.writeLater(bytes) }),
    );
  });
  return { in: path, recipients: recipients.length };
}

function fileOf(path: string | undefined): string {
  if (path !== undefined) return path;
  throw invalid('standard input cannot be rewritten in place', { field: IN, hint: 'name a file' });
}

async function rewrap(path: string, keys: DataKeys, name: string | undefined) {
  const { from, to } = await closing(openRewritable(path), (file) => rewrapEnvelope({ keys, file, name }));
  return { in: path, from, to };
}

/**
 * Opens a regular file whose header is rewritten in place.
 * @throws `invalid` if there is no such file; `unavailable` if it cannot be read or written, or if the disk fails later
 */
function openRewritable(path: string): RewritableFile & { close(): void } {
  const descriptor = open(path);
  const stat = fstatSync(descriptor);
  if (!stat.isFile()) {
    closeSync(descriptor);
    throw invalid(`${path} is not a regular file`, {
      field: IN,
      hint: 'name a regular file: its header is changed in place',
    });
  }
  const plainly = <T>(work: Promise<T>): Promise<T> =>
    work.catch(throwing((error) => writeFailure(path, error, IN)));
  return {
    size: stat.size,
    readAt: (position, into) => plainly(readFully(descriptor, position, into)),
    writeAt: (position, bytes) => plainly(writeFully(descriptor, position, bytes)),
    flush: () => plainly(flush(descriptor)),
    close: () => closeSync(descriptor),
  };
}

function open(path: string): number {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    const isMissing = (error as { readonly code?: unknown } | null)?.code === 'ENOENT';
    throw isMissing
      ? invalid(`cannot read ${path}: no such file`, { field: IN })
      : writeFailure(path, error, IN);
  }
}

async function writeFully(descriptor: number, position: number, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const rest = bytes.length - written;
    written += await answered<number>((done) =>
      write(descriptor, bytes, written, rest, position + written, done),
    );
  }
}
