import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { invalid } from '../../errors.ts';
import type { RewritableFile } from '../../transit/envelope/ports.ts';
import { rewrapEnvelope } from '../../transit/envelope/rewrap.ts';
import type { Command } from '../command.ts';
import { dataKeysOf } from '../envelope-streams.ts';
import { DONE } from '../exit-codes.ts';

export const command: Command = {
  arguments: [
    { metavar: 'NAME', help: 'The named key that it was encrypted with.', required: true, offers: 'key' },
    {
      metavar: 'FILE',
      help: 'The encrypted file; its header is rewritten in place.',
      required: true,
      offers: 'file',
    },
  ],
  options: [],
  details: 'Takes the same short time for every size. Neither the data nor the data key are seen.',
  examples: [
    ['coffer transit envelope rewrap orders dump.sql.coffer', 'After "coffer transit keys rotate orders"'],
  ],
  async run(session, { arguments: [name = '', path = ''] }) {
    const runner = await session.runner();
    const { file, close } = openForRewriting(path);
    try {
      const { from, to } = await rewrapEnvelope({ keys: dataKeysOf(runner), file, name });
      session.remark(from === to ? `Already at version ${to}.` : `Moved from version ${from} to ${to}.`);
    } finally {
      close();
    }
    return DONE;
  },
};

function openForRewriting(path: string): { readonly file: RewritableFile; close(): void } {
  const descriptor = open(path);
  return {
    file: {
      size: fstatSync(descriptor).size,
      readAt: async (position, into) => readSync(descriptor, into, 0, into.length, position),
      async writeAt(position, bytes) {
        let written = 0;
        while (written < bytes.length) {
          written += writeSync(descriptor, bytes, written, bytes.length - written, position + written);
        }
      },
      flush: async () => fsyncSync(descriptor),
    },
    close: () => closeSync(descriptor),
  };
}

function open(path: string): number {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    const code = String((error as { readonly code?: unknown }).code);
    throw invalid(`can't open ${path} for writing: ${code}`, { field: 'FILE', cause: error });
  }
}
