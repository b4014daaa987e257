import { describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';
import { promptsDouble } from './streams.double.ts';

const WRITE = 'auth userpass write ada --token-policies default';

async function withUserpass(): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore();
  await here.ok('auth enable userpass');
  return here;
}

describe('the password of a user', () => {
  it('is asked for until a new user has one, and may then be kept', async () => {
    const here = await withUserpass();
    const first = promptsDouble(['', 'correct horse', 'correct horse']);
    const { exitCode, err } = await here.run(WRITE, { prompts: first });
    expect([exitCode, first.asked]).toEqual([0, ['Password', 'Password', 'Once more']]);
    expect(err).toContain('A new user needs a password.');
    const again = promptsDouble(['']);
    await here.ok(`${WRITE} --yes`, { prompts: again });
    expect(again.asked).toEqual(['Password (press Enter to keep the current one)']);
  });
});
