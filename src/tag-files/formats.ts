import { extname } from 'node:path';
import type { FormatName, TagFormat } from './tag-file.ts';

export const FORMAT_NAMES: readonly FormatName[] = ['csv', 'json', 'yaml'];

/** As large as an export of a hundred thousand workspaces. */
export const MAX_FILE_BYTES = 2 ** 26;

/** The format that a file's name says, or undefined. */
export function formatOf(path: string): FormatName | undefined {
  const extension = extname(path).slice(1).toLowerCase();
  if (extension === 'yml') return 'yaml';
  return FORMAT_NAMES.find((name) => name === extension);
}

/** Loads what reads and writes a format; YAML's is large. */
export async function loadFormat(name: FormatName): Promise<TagFormat> {
  if (name === 'csv') return (await import('./csv.ts')).csv;
  return name === 'json' ? (await import('./json.ts')).json : (await import('./yaml.ts')).yaml;
}
