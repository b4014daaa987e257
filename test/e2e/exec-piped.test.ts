import { describe, expect, it } from 'vitest';
import { placeWithMemory, writeSecret } from './edited.ts';

const FORMAT = ['--format', 'dotenv'];

async function place() {
  const here = await placeWithMemory();
  await writeSecret(here, 'app.env', 'DB=geheim\nPLAIN=readable\n');
  return here.spawned;
}

describe('coffer exec with a file that is piped in, or named as another format is', () => {
  it.each([
    ['standard input from a pipe', 'cat app.env | coffer exec -f - --format dotenv -- sh -c "$SHOW"'],
    [
      'a file of another name',
      'cp app.env app.yaml; coffer exec -f app.yaml --format dotenv -- sh -c "$SHOW" < /dev/null',
    ],
    ['standard input from a file', 'coffer exec -f - --format dotenv -- sh -c "$SHOW" < app.env'],
    ['/dev/stdin', 'cat app.env | coffer exec -f /dev/stdin --format dotenv -- sh -c "$SHOW"'],
    ['a pipe of the shell', 'coffer exec -f <(cat app.env) --format dotenv -- sh -c "$SHOW" < /dev/null'],
  ])('gives a program its values, and an empty standard input: %s', async (_, script) => {
    const here = await place();
    const environment = { SHOW: 'printf "[%s]" "$DB" "$PLAIN" "$(cat)"' };
    const shown = await here.shell(script, { environment });
    expect(shown).toMatchObject({ exitCode: 0, stdout: '[geheim][readable][]' });
  });

  it('says that the format is missing, or that nothing was piped in', async () => {
    const here = await place();
    expect(await here.refused(['exec', '-f', '-', 'true'], 2)).toContain(
      'cannot tell the format of standard input (use --format dotenv|yaml|json)',
    );
    expect(await here.refused(['exec', '-f', '-', ...FORMAT, 'true'], 2)).toContain(
      'FILE: standard input (-) is empty (pipe the encrypted file in, and name this input only once)',
    );
  });
});
