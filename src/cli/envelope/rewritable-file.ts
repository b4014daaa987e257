import { closeSync, fstatSync, fsync, openSync, write } from 'node:fs';
import { invalid } from '../../ground/errors.ts';
import type { RewritableFile } from '../../transit/envelope/ports.ts';
import { readFully } from '../files/in-file.ts';
import { writeFailure } from '../files/out-file.ts';
import { IN } from '../parse/operation-spec.ts';

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
    written += await writeTo(descriptor, bytes.subarray(written), position + written);
  }
}

const writeTo = (descriptor: number, bytes: Uint8Array, position: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, bytes.length, position, (error, written) =>
      error === null ? resolve(written) : reject(error),
    );
  });

const flush = (descriptor: number): Promise<void> =>
  new Promise((resolve, reject) => {
    fsync(descriptor, (error) => (error === null ? resolve() : reject(error)));
  });
