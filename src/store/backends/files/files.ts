/** Stores in a directory of files, shared by all processes of one machine. */
import type { BackendKind } from '../backend-kind.ts';

export const files: BackendKind = {
  form: 'directory',
  matches: () => true,
  async open({ text }, options) {
    const { FilesBackend } = await import('./files-backend.ts');
    return new FilesBackend(text, options);
  },
  async create({ text }, content, options) {
    const { createFiles } = await import('./create-files.ts');
    await createFiles(text, content, options);
  },
  async print({ text }) {
    return text;
  },
};
