import { invalid } from '../ground/errors.ts';

/** ASCII letters, digits and `_`; inside also `-` and `.`. The rule of peers for names in paths. */
export const KEY_NAME = /^\w(?:[\w.-]*\w)?$/;

/** @throws `invalid` naming `field`. */
export function requireKeyName(name: string, field: string): string {
  if (KEY_NAME.test(name)) return name;
  const shown = JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
  throw invalid(name.includes('/') ? 'key names cannot be paths' : `key name ${shown} is not allowed`, {
    field,
    hint: 'use letters, digits and "_", inside the name also "-" and "."',
  });
}
