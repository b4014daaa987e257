import { basename, extname } from 'node:path';
import type { Format, FormatName } from './format.ts';

/** The largest file that is read: more than anybody keeps secrets in, and parsed in a few seconds whatever it says. */
export const MAX_FILE_BYTES = 2 ** 20;

/** The format that a file's name says, or undefined: `.env`, `.env.local`, `app.env`; `.yaml`, `.yml`; `.json`. */
export function formatOf(path: string): FormatName | undefined {
  const name = basename(path);
  const extension = extname(name);
  if (extension === '.yaml' || extension === '.yml') return 'yaml';
  if (extension === '.json') return 'json';
  return name === '.env' || name.startsWith('.env.') || extension === '.env' ? 'dotenv' : undefined;
}

/** Loads what reads a format; YAML's is large. */
export async function loadFormat(name: FormatName): Promise<Format> {
  if (name === 'dotenv') return (await import('./dotenv.ts')).dotenv;
  return name === 'json' ? (await import('./json.ts')).json : (await import('./yaml.ts')).yaml;
}
