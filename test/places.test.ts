import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const source = fileURLToPath(new URL('../src', import.meta.url));
/** What opens files and databases of a server. */
const ROOMS = /^(store|service|access|doors)\//;
/** Errors about what is kept somewhere, and what to do about it. */
const MESSAGE = /\b(?:corrupt|unavailable|conflict|notFound)\(\s*`([^`]*)`/g;
const HINT = /\bhint: `([^`]*)`/g;

const insertsOf = (pattern: RegExp): readonly string[] =>
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && ROOMS.test(path))
    .flatMap((path) => [...readFileSync(join(source, path), 'utf8').matchAll(pattern)])
    .flatMap(([, text = '']) => [...text.matchAll(/\$\{([^}]*)\}/g)])
    .map(([, inserted = '']) => inserted)
    .sort();

// The address is that of a list of revoked certificates, and the name that of a role: whoever reads the message has given them, as the name of
// a key that age asks the agent for. The ID of a key slot says nothing about where the store is.
// Whatever else is put into such a text may be a path or an address, and has to be told apart (`placed`).
describe('errors about what is kept somewhere', () => {
  it('have nothing inserted into their message that callers of a server may not read', () => {
    expect(insertsOf(MESSAGE)).toEqual(['MAX_SLOTS', 'accessor', 'id', 'member', 'name', 'url']);
  });

  it('have nothing inserted into their hint that callers of a server may not read', () => {
    expect(insertsOf(HINT)).toEqual([
      'SHAPE[table]',
      'kindsOf(usable)',
      "offerCommand('age', name)",
      'slotId',
    ]);
  });
});
