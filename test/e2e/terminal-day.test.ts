import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isLong } from '../long.ts';
import { placeForAgents } from './agent-target.ts';
import { type Place, removePlace } from './harness.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

const PASSPHRASE = 'sheriff ethics unlock success inch';

const canTry = canUseTerminals && spawnSync('git', ['--version']).status === 0;

let place: Place;

beforeEach(() => {
  place = placeForAgents({
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_PAGER: 'cat',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.org',
  });
});

afterEach(async () => {
  await place.run('lock');
  removePlace(place);
});

/** The README's beginning, and then what a person does in a day. What comes of each is written to a file of its own. */
const MORNING = `set -e
coffer init
coffer unlock
coffer transit keys create app
git init -q .
printf 'store\nrun\n*.out\n' > .gitignore
echo 'DB_PASSWORD=value-0' > .env
printf 'rules:\n  - files: .env\n    key: app\n' > .coffer.yaml
coffer secrets encrypt .env
coffer secrets git-setup
git add -A && git commit -qm begin
ciphertext=$(coffer transit encrypt app attack-at-dawn)
`;

const CHANGES = Array.from({ length: isLong ? 5 : 2 }, (_, index) => index + 1);

const DAY = `for n in ${CHANGES.join(' ')}; do
  EDITOR="sed -i s/value-.*/value-$n/" coffer edit .env
  git diff > "diff-$n.out"
  git log -p > "log-$n.out"
  git commit -qam "change $n"
  coffer exec -f .env -- sh -c 'echo "$DB_PASSWORD"' >> run.out
done
echo 5432 | coffer secrets set .env PORT
coffer secrets get .env PORT > get.out
coffer transit decrypt app "$ciphertext" > decrypt.out
`;

const EVENING = `coffer lock
git diff > locked.out
`;

describe.skipIf(!canTry)("a person's day on a terminal", () => {
  it('asks for the passphrase once, and for nothing when the store is locked again', () => {
    const { text, exitCode } = onTerminal(place, MORNING + DAY + EVENING, {
      steps: [
        ['New passphrase', `${PASSPHRASE}\r`],
        ['Once more', `${PASSPHRASE}\r`],
        ['Passphrase', `${PASSPHRASE}\r`],
      ],
    });
    expect(exitCode).toBe(0);
    const read = (name: string): string => readFileSync(place.file(name), 'utf8');
    // What stays of a question when it was answered.
    expect(text.match(/\? Passphrase \n/g)).toHaveLength(1);
    expect(read('run.out')).toBe(CHANGES.map((n) => `value-${n}\n`).join(''));
    for (const n of CHANGES) {
      expect(read(`diff-${n}.out`)).toContain(`\n-DB_PASSWORD=value-${n - 1}\n+DB_PASSWORD=value-${n}\n`);
    }
    const last = CHANGES.length;
    expect(read(`log-${last}.out`)).toContain(
      `\n-DB_PASSWORD=value-${last - 2}\n+DB_PASSWORD=value-${last - 1}\n`,
    );
    expect([read('get.out'), read('decrypt.out')]).toEqual(['5432', 'attack-at-dawn']);
    expect(read('locked.out')).toMatch(/\n DB_PASSWORD=coffer:app:v1:\S+\n\+PORT=coffer:app:v1:\S+\n$/);
  });
});
