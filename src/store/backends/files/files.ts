/** Stores in a directory of files, shared by all processes of one machine. */

import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { attempt } from '../../../ground/errors.ts';
import type { BackendKind } from '../backend-kind.ts';

export const files: BackendKind = {
  form: 'directory',
  words: { place: 'directory', parts: 'files' },
  identity: ({ text }) => realPath(resolve(text)),
  lasting: ({ text, defaults }) => ({ text: resolve(text), defaults }),
  directory: ({ text }) => text,
  async open({ text }, options) {
    const { FilesBackend } = await import('./files-backend.ts');
    return new FilesBackend(text, options);
  },
  async create({ text }, content, options) {
    const { createFiles } = await import('./create-files.ts');
    await createFiles(text, content, options);
  },
  async requireFree({ text }) {
    const { requireFree } = await import('./create-files.ts');
    requireFree(text);
  },
  async print({ text }) {
    return text;
  },
};

/** Resolves links; returns the path itself if it does not exist yet. */
const realPath = (path: string): string => attempt(() => realpathSync(path), path);
