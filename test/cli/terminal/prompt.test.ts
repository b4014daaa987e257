import { expect, it, vi } from 'vitest';
import { terminalPrompts } from '../../../src/cli/terminal/prompt.ts';
import type { Streams } from '../../../src/cli/terminal/streams.ts';
import { refused } from '../../refusal.ts';

const asked = vi.hoisted((): string[] => []);
const answers = vi.hoisted((): string[] => []);
vi.mock('../../../src/cli/terminal/questions.ts', () => ({
  askSecret: async (question: string) => {
    asked.push(question);
    return answers.shift() ?? 'x';
  },
  askWhether: async (question: string) => {
    asked.push(question);
    return true;
  },
}));

/** A terminal, and what is written beside the questions. */
function terminal() {
  const written: string[] = [];
  const write = (text: string): void => void written.push(text);
  const streams = { in: { isTerminal: true }, err: { isTerminal: true, columns: 1000, write } };
  return { prompts: terminalPrompts(streams as unknown as Streams), written };
}

it('a new passphrase is asked for until it is typed the same twice, and is never empty', async () => {
  const { prompts, written } = terminal();
  answers.push('one', 'two', 'three', 'three');
  expect(await prompts.newSecret('Passphrase')).toBe('three');
  expect(written).toEqual(['Passphrases do not match, try again.\n']);
  answers.push('');
  expect(await refused(prompts.newSecret('Passphrase'))).toEqual({
    kind: 'invalid',
    message: 'the passphrase must not be empty',
    field: 'passphrase',
  });
  answers.push('');
  expect(await prompts.newSecret('Passphrase', async () => 'made')).toBe('made');
  expect(answers).toEqual([]);
  asked.length = 0;
});

it('a question shows the control characters of names in it, and lets none move the cursor or break a line', async () => {
  const streams = { in: { isTerminal: true }, err: { isTerminal: true, columns: 1000 } } as Streams;
  const prompts = terminalPrompts(streams);
  const name = 'a\u001b[2K\r\nIs it right?\u202e';
  await prompts.confirm(`app.yaml: ${name} is under a key that bob had. Take it over?`);
  await prompts.secret(`Passphrase of ${name}`);
  expect(asked).toHaveLength(2);
  for (const question of asked) expect(question).toContain('a\\u001b[2K\\u000d\\u000aIs it right?\\u202e');
});

it('a question for a secret leaves room for what is behind it, so that no word is broken', async () => {
  const last = async (question: string, columns: number): Promise<readonly string[]> => {
    asked.length = 0;
    const streams = { in: { isTerminal: true }, err: { isTerminal: true, columns } } as Streams;
    await terminalPrompts(streams).secret(question);
    return `? ${asked[0]} [input is masked]`.split('\n');
  };
  const made = 'New passphrase (press Enter to generate one)';
  expect(await last(made, 60)).toEqual([
    '? New passphrase (press Enter to generate',
    'one) [input is masked]',
  ]);
  expect(await last(made, 80)).toEqual([`? ${made} [input is masked]`]);
  const path = `/home/${'x'.repeat(44)}`;
  expect(await last(`Passphrase for ${path}`, 60)).toEqual(['? Passphrase for', path, ' [input is masked]']);
});
