import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { freshIdentity, recipientOfIdentity } from '../../../src/transit/envelope/age/recipients.ts';
import { promptsDouble } from '../streams.double.ts';
import { RepositoryHere } from './repository-here.ts';

const freshKey = (): string => recipientOfIdentity(freshIdentity(systemRandom));

/** A repository of Ann, with Bob as a member and a file with a value. */
async function withBob(): Promise<RepositoryHere> {
  const repository = new RepositoryHere();
  const { here } = repository;
  await repository.ok('team init -q');
  here.write('.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n');
  await repository.ok('secrets set -q a.env A one');
  await repository.ok('team add bob --new -q');
  return repository;
}

/** What a command asks, and what it says and does after the answers. */
async function asked(repository: RepositoryHere, line: string, answers: readonly boolean[]) {
  const prompts = promptsDouble(answers);
  const { exitCode, err, out } = await repository.here.run(line, { ...repository.as(), prompts });
  return { exitCode, err, out, asked: prompts.asked };
}

describe('the question of a change of a team', () => {
  it('about a removal leaves all as it was after a no, and re-encrypts all after a yes', async () => {
    const repository = await withBob();
    const [facts, value] = [repository.facts, repository.here.read('a.env')];
    const question = ['Remove bob and re-encrypt everything?'];
    expect(await asked(repository, 'team remove bob', [false])).toEqual({
      exitCode: 1,
      err: 'No changes made.\n',
      out: '',
      asked: question,
    });
    expect([repository.facts, repository.here.read('a.env')]).toEqual([facts, value]);
    expect(await repository.refused('team remove bob', 2)).toContain('cannot prompt for confirmation');
    expect([repository.facts, repository.here.read('a.env')]).toEqual([facts, value]);
    const done = await asked(repository, 'team remove bob', [true]);
    expect(done).toMatchObject({ exitCode: 0, asked: question });
    expect(done.err).toContain('bob could read these values. Change them at their source:\n  a.env: A\n');
    expect(repository.here.read('a.env')).toMatch(/^A=coffer:app:v2:/);
    // An interrupted removal is completed by the same command, without a further question about the member.
    expect(await asked(repository, 'team remove bob', [])).toMatchObject({ exitCode: 0 });
  });

  it('about another key of a member adds none after a no, nor where nobody can be asked', async () => {
    const repository = await withBob();
    const facts = repository.facts;
    const line = `team add bob ${freshKey()}`;
    const question = ['bob is already a member. Add another key for this member?'];
    expect(await asked(repository, line, [false])).toEqual({
      exitCode: 1,
      err: 'No changes made.\n',
      out: '',
      asked: question,
    });
    expect(await repository.refused(line, 6)).toContain('coffer: bob is already a member (use --yes to add');
    expect(repository.facts).toEqual(facts);
    expect(await asked(repository, line, [true])).toMatchObject({ exitCode: 0, asked: question });
    expect(repository.facts).toHaveLength(facts.length + 1);
    expect(await repository.refused(`${line} --yes`, 6)).toContain('bob already has this key');
    expect(repository.facts).toHaveLength(facts.length + 1);
  });

  it('is none where the change would be refused: of the last admin, of nobody, and of another key', async () => {
    const repository = await withBob();
    const facts = repository.facts;
    const card = repository.idOf('members/bob.');
    const other = `${card[0] === 'a' ? 'b' : 'a'}${card.slice(1)}`;
    for (const [line, exitCode, message] of [
      [
        'team remove ann',
        1,
        'coffer: at least one admin must stay (make another member an admin first: coffer team add ',
      ],
      ['team remove bab', 3, 'coffer: no member "bab" in this keyring (did you mean "bob"?)'],
      [
        'team remove zachary',
        3,
        'coffer: no member "zachary" in this keyring (run "coffer team" to list the members)',
      ],
      [`team remove bob --card ${other}`, 3, 'coffer: --card: no key of bob has an ID that begins with "'],
      [`team remove ann --card ${card}`, 3, 'coffer: --card: no key of ann has an ID that begins with "'],
    ] as const)
      expect((await repository.refused(line, exitCode, [])).startsWith(message), line).toBe(true);
    expect(repository.facts).toEqual(facts);
    const removal = await asked(repository, `team remove bob --card ${card.slice(0, 6)}`, [true]);
    const removed = `the key ${card.slice(0, 6)} of bob`;
    expect(removal).toMatchObject({ exitCode: 0, asked: [`Remove ${removed} and re-encrypt everything?`] });
    expect(removal.err).toContain(`Removed ${removed}. All keys have a new version: app.\n`);
    expect(await repository.refused(`team remove bob --card ${other}`, 3, [])).toContain('no member "bob"');
    expect(await asked(repository, `team remove bob --card ${card}`, [])).toMatchObject({ exitCode: 0 });
  });
});

describe('a removal', () => {
  it('of one of two keys is listed as that, and of the last one as a removal of the member', async () => {
    const repository = await withBob();
    const first = repository.idOf('members/bob.');
    await repository.ok(`team add bob ${freshKey()} --yes -q`);
    await repository.ok(`team remove bob --card ${first} --yes -q`);
    expect(await repository.ok('team log')).toMatch(/\tremoved a key of bob$/m);
    await repository.ok('team remove bob --yes -q');
    expect(await repository.ok('team log')).toMatch(/\tremoved bob$/m);
    expect(await repository.ok('team log -o json')).not.toContain('a key of bob');
  });

  it('lists and re-encrypts files without a rule, also if no file has one', async () => {
    const repository = await withBob();
    repository.here.write('.coffer.yaml', 'rules:\n  - files: "x/*.env"\n    key: app\n');
    const removal = await asked(repository, 'team remove bob', [true]);
    expect(removal.err).toContain('bob could read these values. Change them at their source:\n  a.env: A\n');
    expect(repository.here.read('a.env')).toMatch(/^A=coffer:app:v2:/);
  });
});

describe('a new member', () => {
  it.each([
    ['team add bob', 'no key given for the new member'],
    [`team add bob ${freshKey()} --admin`, 'only a member with an ssh-ed25519 key can be added as an admin'],
    [`team add bob ${freshKey()} --new`, 'RECIPIENT cannot be used with --new'],
    ['team add bob nonsense', ''],
    ['team add age1x', ''],
  ])('is refused before anything is opened: %s', async (line, message) => {
    const repository = new RepositoryHere();
    await repository.ok('team init -q');
    const facts = repository.facts;
    expect(await repository.refused(line, 2, [])).toContain(message);
    expect(repository.facts).toEqual(facts);
  });
});
