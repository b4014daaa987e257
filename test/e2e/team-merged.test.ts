import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { scriptedEditor } from './edited.ts';
import { factsOf, git, type Person, pull, push, save, team, withRemovalOfNoEffect } from './team-people.ts';

const DUE = 'An admin must run "coffer team settle"';
const HOOK = '.git/hooks/post-merge';

/** Alice has removed Bob while Carol has added Erin, so that Erin waits for the new root key. */
async function withWorkLeft() {
  const { people, alice, others } = await team('bob', 'carol');
  const [, carol] = others as [Person, Person];
  await carol.place.ok('secrets git-setup -q');
  save(carol);
  await alice.place.ok('team remove -q bob --yes');
  push(alice);
  await carol.place.ok(['team', 'add', '-q', 'erin', people.person('erin').key]);
  save(carol);
  return { alice, carol };
}

describe('the post-merge hook', () => {
  it('says after a merge that the team must be settled, stores nothing, and is silent once it is', async () => {
    const { alice, carol } = await withWorkLeft();
    const merged = pull(carol);
    expect(merged, merged.stdout + merged.stderr).toMatchObject({ exitCode: 0 });
    expect(merged.stdout + merged.stderr).toContain(DUE);
    const { stderr } = await carol.place.run('team settle --yes');
    expect(stderr).toContain('New: alice removed bob.');
    push(carol);
    await alice.place.ok('secrets git-setup -q');
    // Carol has committed the same file.
    rmSync(alice.place.file('.gitattributes'));
    const quiet = pull(alice);
    expect(quiet, quiet.stderr).toMatchObject({ exitCode: 0 });
    expect(quiet.stdout + quiet.stderr).not.toContain('coffer');
  });

  it('fails no merge and says nothing where Coffer is gone, or the keyring is damaged', async () => {
    const { carol } = await withWorkLeft();
    const hook = readFileSync(carol.place.file(HOOK), 'utf8');
    writeFileSync(carol.place.file(HOOK), hook.replace(/^.*secrets/m, "'/nowhere/coffer' secrets"));
    const merged = pull(carol);
    expect(merged).toMatchObject({ exitCode: 0 });
    expect(merged.stdout + merged.stderr).not.toMatch(/settle|nowhere/);
    for (const path of factsOf(carol)) writeFileSync(carol.place.file(`.coffer/${path}`), 'broken');
    const { exitCode, stdout } = await carol.place.run('secrets git-merged');
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
  });

  it('is left as it is if there is one already, and the line to add is printed', async () => {
    const { alice } = await team();
    writeFileSync(alice.place.file(HOOK), '#!/bin/sh\nmake\n');
    chmodSync(alice.place.file(HOOK), 0o755);
    const { stderr } = await alice.place.run('secrets git-setup');
    expect(stderr).toMatch(
      /post-merge already exists; add this line to it: .+ secrets git-merged 2>\/dev\/null \|\| :/,
    );
    expect(readFileSync(alice.place.file(HOOK), 'utf8')).toBe('#!/bin/sh\nmake\n');
  });
});

describe('a merge of a file of a team', () => {
  it.each([
    ['a rotation of the key', 'team key rotate -q app --yes'],
    ['a removal', 'team remove -q bob --yes'],
  ])(
    'has the change of the side that has one, if the other encrypted the file again after %s',
    async (_, again) => {
      const { alice } = await team('bob');
      const setUp = await alice.place.run('secrets git-setup -q');
      expect(setUp).toMatchObject({ exitCode: 0 });
      await alice.place.ok('secrets set -q app.env OTHER kept');
      save(alice);
      expect(git(alice, 'checkout -q -b side')).toMatchObject({ exitCode: 0 });
      await alice.place.ok('secrets set -q app.env DB changed');
      save(alice);
      expect(git(alice, 'checkout -q -')).toMatchObject({ exitCode: 0 });
      await alice.place.ok(again);
      await alice.place.ok('secrets rewrap -q app.env');
      save(alice);
      const merged = git(alice, 'merge -q side');
      expect(merged, merged.stdout + merged.stderr).toMatchObject({ exitCode: 0 });
      expect(readFileSync(alice.place.file('app.env'), 'utf8')).toMatch(
        /^DB=coffer:app:v1:\S+\nOTHER=coffer:app:v2:\S+\n$/,
      );
      await alice.place.ok('secrets rewrap -q app.env --yes');
      expect(await alice.place.ok('secrets get app.env DB')).toBe('changed');
    },
  );
});

describe('a removal without effect', () => {
  it('is reported by each command about the team, and by those that read values only once', async () => {
    const { carol } = await withRemovalOfNoEffect();
    const ignored = 'ignored, because bob was removed at the same time: bob removed dave';
    const said = async (line: string): Promise<number> =>
      (await carol.place.run(line)).stderr.split(ignored).length - 1;
    expect(await said('secrets get -q app.env DB')).toBe(0);
    expect(await said('secrets get app.env DB')).toBe(1);
    expect(await said('secrets get app.env DB')).toBe(0);
    expect(await said('team list')).toBe(1);
    expect(await said('team settle --yes')).toBe(1);
  });
});

describe('a merge conflict in a file of a team', () => {
  it('is resolved with an edit, which opens both sides and their base with a plain SSH key', async () => {
    const { alice } = await team();
    const set = async (text: string): Promise<void> => {
      await alice.place.ok(['secrets', 'set', '-q', 'app.env', 'DB', text]);
      save(alice);
    };
    expect(git(alice, 'checkout -q -b side')).toMatchObject({ exitCode: 0 });
    await set('theirs');
    expect(git(alice, 'checkout -q -')).toMatchObject({ exitCode: 0 });
    await set('ours');
    expect(git(alice, 'merge -q side').exitCode).toBe(1);
    const script = `cp "$1" '${alice.place.file('shown')}'; echo DB=both > "$1"`;
    const environment = scriptedEditor(alice.place, script);
    expect(await alice.place.run('edit app.env', { environment })).toMatchObject({
      exitCode: 0,
      stderr: 'Wrote app.env.\n',
    });
    expect(readFileSync(alice.place.file('shown'), 'utf8')).toBe(
      '<<<<<<< ours\nDB=ours\n=======\nDB=theirs\n>>>>>>> theirs\n',
    );
    expect(await alice.place.ok('secrets get app.env DB')).toBe('both');
  });

  it('is resolved with an edit after a removal, too, which says what the removed could have written', async () => {
    const { alice } = await team('bob');
    await alice.place.ok('secrets set -q app.env KEPT same');
    save(alice);
    expect(git(alice, 'checkout -q -b side')).toMatchObject({ exitCode: 0 });
    for (const [name, text] of [
      ['DB', 'theirs'],
      ['NEW', 'added'],
    ])
      await alice.place.ok(['secrets', 'set', '-q', 'app.env', name ?? '', text ?? '']);
    save(alice);
    expect(git(alice, 'checkout -q -')).toMatchObject({ exitCode: 0 });
    await alice.place.ok('secrets set -q app.env DB ours');
    await alice.place.ok('team remove -q bob --yes');
    save(alice);
    expect(git(alice, 'merge -q side').exitCode).toBe(1);
    const script = `sed -i -e '/^[<=>]\\{7\\}/d' -e '/DB=ours/d' "$1"`;
    const environment = scriptedEditor(alice.place, script);
    const warning = 'coffer: warning: app.env: removed members may have written DB, NEW of "theirs"\n';
    const refused = await alice.place.run('edit app.env', { environment });
    expect(refused).toMatchObject({ exitCode: 4 });
    expect(refused.stderr).toContain(
      `${warning}coffer: app.env: a removed member may have written the value of DB; `,
    );
    expect(await alice.place.run('edit app.env --discard --yes', { environment })).toMatchObject({
      exitCode: 0,
      stderr: `${warning}Wrote app.env.\n`,
    });
    expect(readFileSync(alice.place.file('app.env'), 'utf8')).toMatch(/^(?:\w+=coffer:app:v2:\S+\n){3}$/);
    expect(await alice.place.ok('secrets decrypt --stdout app.env')).toBe('DB=theirs\nKEPT=same\nNEW=added');
  });
});
