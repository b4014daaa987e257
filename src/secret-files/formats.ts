import { basename, extname } from 'node:path';
import type { FileFormat, FileFormatName } from './format.ts';

/**
 * Maximum size of a file in bytes: more than any file with secrets has, and parsed within a few seconds whatever its
 * content.
 */
export const MAX_FILE_BYTES = 2 ** 20;

/** Returns the format by a file's name, or undefined: `.env`, `.env.local`, `app.env`; `.yaml`, `.yml`; `.json`. */
export function formatOf(path: string): FileFormatName | undefined {
  const name = basename(path);
  const extension = extname(name);
  if (extension === '.yaml' || extension === '.yml') return 'yaml';
  if (extension === '.json') return 'json';
  return name === '.env' || name.startsWith('.env.') || extension === '.env' ? 'dotenv' : undefined;
}

/** Loads the parser of a format; that of YAML is large. */
export async function loadFormat(name: FileFormatName): Promise<FileFormat> {
  if (name === 'dotenv') return (await import('./dotenv.ts')).dotenv;
  return name === 'json' ? (await import('./json.ts')).json : (await import('./yaml.ts')).yaml;
}
