import { chmodSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { typedAt } from './typed.ts';

/* A variable with a file that does not unlock the store. */

let people: Place;
let machines: Place;
beforeAll(async () => {
  const bare = emptyPlace();
  people = bare;
  machines = bare.with({ COFFER_STORE: bare.file('other-store') });
  await people.with({ COFFER_PASSPHRASE: 'several random words' }).ok('init');
  await machines.with({ COFFER_MASTER_KEY: MASTER_KEY }).ok('init');
  writeFileSync(bare.file('wrong'), 'a file that is no key of any store, but long enough');
  chmodSync(bare.file('wrong'), 0o600);
});
afterAll(() => removePlace(people));

const WITHOUT = 'run "unset COFFER_MASTER_KEY_FILE", then "coffer unlock"';

describe('a variable with the wrong file', () => {
  it.each([
    ['nowhere', 'nowhere does not exist'],
    ['wrong', 'wrong does not unlock the store'],
    ['/etc/passwd', '/etc/passwd does not unlock the store'],
  ])(
    'is answered with the file and the way without it, where a passphrase unlocks the store: %s',
    async (name, fact) => {
      const path = name.startsWith('/') ? name : people.file(name);
      const said = fact.replace(name, path);
      const hint = `(${said}; it can be unlocked with a passphrase: ${WITHOUT})`;
      const place = people.with({ COFFER_MASTER_KEY_FILE: path });
      for (const line of ['transit keys list', 'slots list'])
        expect(await place.refused(line, 4)).toBe(
          `coffer: the store cannot be unlocked with COFFER_MASTER_KEY_FILE ${hint}`,
        );
      expect((await place.run('status')).stderr).toContain(hint);
      const asked = await typedAt(place, 'transit keys list', {
        answers: ['several random words'],
        columns: 1000,
      });
      expect(asked.stderr).toContain(`cannot be unlocked with COFFER_MASTER_KEY_FILE (${said})`);
      expect(asked.exitCode).toBe(0);
    },
  );

  it('is answered with what to set, where only a key unlocks the store', async () => {
    const [missing, wrong] = [machines.file('nowhere'), machines.file('wrong')];
    const refusal = (path: string, exitCode: number) =>
      machines.with({ COFFER_MASTER_KEY_FILE: path }).refused('transit keys list', exitCode);
    const step = `set COFFER_MASTER_KEY_FILE to the file that unlocks this store; if you have no such file, ${WITHOUT})`;
    expect(await refusal(missing, 2)).toBe(
      `coffer: COFFER_MASTER_KEY_FILE: cannot read ${missing}: no such file (${step}`,
    );
    expect(await refusal('/etc/passwd', 1)).toContain(step);
    expect(await refusal(wrong, 4)).toContain(
      `(${wrong} does not unlock the store: set COFFER_MASTER_KEY_FILE to the right file; nothing else unlocks it`,
    );
  });

  it.each(['COFFER_PASSPHRASE_FILE', 'COFFER_SHARES_FILE'])('is named too, if it is %s', async (name) => {
    const missing = people.file('nowhere');
    const place = machines.with({ [name]: missing });
    expect((await place.run('transit keys list')).stderr).toContain(
      `${missing} does not exist; it can be unlocked`,
    );
  });

  it('is answered with the command that creates one, where a store is created', async () => {
    const missing = people.file('nowhere');
    const place = people.with({ COFFER_MASTER_KEY_FILE: missing, COFFER_STORE: people.file('third-store') });
    const refusal = await place.refused('init', 2);
    expect(refusal).toContain(`no such file (create one with "coffer keygen --out ${missing}")`);
    const [, command = ''] = /"coffer ([^"]+)"/.exec(refusal) ?? [];
    await place.ok(command);
    await place.ok('init');
  });
});
