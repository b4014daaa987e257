import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, People, type Person, pull, push, team } from './team-people.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

const REMINDER =
  'In this clone, git neither decrypts diffs nor refuses to commit plaintext yet. To set up both:\n    coffer secrets git-setup\n';

const shown = ({ place }: Person, script: string, environment = {}): string => {
  const { text, exitCode } = onTerminal(place, script, { columns: 200, environment });
  expect(`${exitCode} ${text}`).toMatch(/^0/);
  return text;
};

describe.skipIf(!canUseTerminals)('a clone without "coffer secrets git-setup"', () => {
  it('is told of it by the command that trusts its keyring, and in no pipe', async () => {
    const { people, alice } = await team();
    const bob = people.person('bob');
    const { trust } = (await alice.place.json(['team', 'add', 'bob', bob.key])) as { readonly trust: string };
    push(alice);
    pull(bob);
    expect(shown(bob, `coffer team trust ${trust}`)).toContain(`Members: alice (admin), bob.\n${REMINDER}`);
    expect((await bob.place.run(['team', 'trust', trust])).stderr).not.toContain('git-setup');
    await bob.place.ok('secrets git-setup -q');
    expect(shown(bob, `coffer team trust ${trust}`)).not.toContain('git-setup');
  });

  it('is told of it once by each command for files of the rules, on a terminal, until it is set up', async () => {
    const { alice } = await team();
    writeFileSync(alice.place.file('b.env'), 'B=2\n');
    const editor = join(alice.home, 'editor.sh');
    writeFileSync(editor, '#!/bin/sh\necho "EDITED=1" >> "$1"\n', { mode: 0o755 });
    const lines = [
      'coffer exec -f app.env -f b.env -- true',
      'coffer edit app.env',
      'coffer secrets set app.env C 3',
      'coffer secrets encrypt app.env b.env',
    ];
    await alice.place.ok('secrets encrypt -q b.env');
    for (const line of lines)
      expect(shown(alice, line, { EDITOR: editor }).split(REMINDER), line).toHaveLength(2);
    expect((await alice.place.shell('coffer exec -f app.env -- true')).stderr).toBe('');
    expect(shown(alice, 'coffer exec -q -f app.env -- true')).toBe('');
    // Files that no rule names are not for Coffer's drivers.
    writeFileSync(alice.place.file('c.json'), '{}');
    expect(shown(alice, 'coffer exec -f c.json -- true')).not.toContain('git-setup');
    await alice.place.ok('secrets git-setup -q');
    for (const line of lines) expect(shown(alice, line, { EDITOR: editor }), line).not.toContain('git-setup');
  });

  it('is told of nothing if its hook refuses plaintext, or if it is no repository', async () => {
    const { alice } = await team();
    const hook = alice.place.file('.git/hooks/pre-commit');
    writeFileSync(hook, '#!/bin/sh\nmake lint && coffer secrets check --staged\n', { mode: 0o755 });
    expect(shown(alice, 'coffer exec -f app.env -- true')).toBe('');
    writeFileSync(hook, '#!/bin/sh\n  # coffer secrets check --staged\n');
    expect(shown(alice, 'coffer exec -f app.env -- true')).toBe(REMINDER);
    writeFileSync(hook, '#!/bin/sh\ncoffer secrets check --staged\n');
    git(alice, 'config core.hooksPath elsewhere');
    expect(shown(alice, 'coffer exec -f app.env -- true')).toBe(REMINDER);
    const outside = new People().person('carol').home;
    writeFileSync(join(outside, '.coffer.yaml'), 'rules:\n  - files: "*.env"\n    key: app\n');
    writeFileSync(join(outside, 'a.env'), '');
    expect(shown(alice, `cd ${outside} && coffer exec -f a.env -- true`)).not.toContain('git-setup');
  });
});
