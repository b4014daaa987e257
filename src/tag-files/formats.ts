import { extname } from 'node:path';
import type { TagFormat, TagFormatName } from './tag-file.ts';

export const FORMAT_NAMES: readonly TagFormatName[] = ['csv', 'json', 'yaml'];

/** Maximum size of a file in bytes: that of an export of a hundred thousand workspaces. */
export const MAX_FILE_BYTES = 2 ** 26;

/** Returns the format by a file's name; undefined if unknown. */
export function formatOf(path: string): TagFormatName | undefined {
  const extension = extname(path).slice(1).toLowerCase();
  if (extension === 'yml') return 'yaml';
  return FORMAT_NAMES.find((name) => name === extension);
}

/** Loads the parser and printer of a format; that of YAML is large. */
export async function loadFormat(name: TagFormatName): Promise<TagFormat> {
  if (name === 'csv') return (await import('./csv.ts')).csv;
  return name === 'json' ? (await import('./json.ts')).json : (await import('./yaml.ts')).yaml;
}
