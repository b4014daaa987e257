import { closeSync, fstatSync, openSync, write } from 'node:fs';
import { invalid } from '../../ground/errors.ts';
import { answered } from '../../ground/pause.ts';
import type { DataKeys, RewritableFile } from '../../transit/envelope/ports.ts';
import { rewrapEnvelope } from '../../transit/envelope/rewrap.ts';
import type { Command } from '../command.ts';
import { dataKeysOf } from '../envelope/data-keys.ts';
import { decryptedNames, forEachFile, inputsOf } from '../envelope/jobs.ts';
import { contextOf, contextOptions, expectedKey, inOption, namedKey } from '../envelope/options.ts';
import { readFully } from '../files/in-file.ts';
import { flush, writeFailure } from '../files/out-file.ts';
import { textsOption } from '../given.ts';
import { IN } from '../parse/operation-spec.ts';
import { jsonText } from '../terminal/output.ts';

export const command: Command = {
  arguments: [expectedKey],
  options: [
    { ...inOption, help: 'Files to rewrap; of a directory, every *.coffer below it.' },
    ...contextOptions,
  ],
  details:
    'Moves files to the latest version of their key by rewriting their headers in place: as fast for a terabyte as for a ' +
    'byte. Neither the data nor the data key are seen. A header whose rewriting was cut short is repaired.',
  examples: [
    ['coffer transit envelope rewrap --in dump.sql.coffer', 'After "coffer transit keys rotate orders"'],
    [
      'coffer transit envelope rewrap orders --in backups',
      'Every file below a directory, if it is under this key',
    ],
  ],
  async run(session, given) {
    const { options } = given;
    const name = namedKey(given);
    if (textsOption(options, IN).length === 0) {
      throw invalid('there is no file to rewrap', { field: IN, hint: 'name the files with --in' });
    }
    const files = inputsOf(options, decryptedNames.isMeant).map(({ path }) => ({ from: fileOf(path) }));
    const keys = await dataKeysOf(session, contextOf(options), name);
    const { results, exitCode } = await forEachFile(session, files, ({ from }) => rewrap(from, keys, name));
    if (session.settings.format === 'json') {
      session.streams.out.write(jsonText({ files: results }, session.streams.out.isTerminal));
    } else {
      for (const result of results)
        session.remark(`${result.in}: from version ${result.from} to ${result.to}.`);
    }
    return exitCode;
  },
};

function fileOf(path: string | undefined): string {
  if (path !== undefined) return path;
  throw invalid('standard input cannot be rewritten in place', { field: IN, hint: 'name a file' });
}

async function rewrap(path: string, keys: DataKeys, name: string | undefined) {
  const file = openRewritable(path);
  try {
    const { from, to } = await rewrapEnvelope({ keys, file, name });
    return { in: path, from, to };
  } finally {
    file.close();
  }
}

/**
 * Opens a regular file whose header is to be rewritten where it is.
 * @throws `invalid` when there is no such file, `unavailable` when it can't be read and written, or the disk fails later.
 */
export function openRewritable(path: string): RewritableFile & { close(): void } {
  const descriptor = open(path);
  const stat = fstatSync(descriptor);
  if (!stat.isFile()) {
    closeSync(descriptor);
    throw invalid(`${path} is not a regular file`, { field: IN, hint: 'a header is rewritten where it is' });
  }
  const plainly = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw writeFailure(path, error, IN);
    });
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
      ? invalid(`can't read ${path}: no such file`, { field: IN })
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
