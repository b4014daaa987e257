import { expect, it, vi } from 'vitest';
import { terminalPrompts } from '../../../src/cli/terminal/prompt.ts';
import type { Streams } from '../../../src/cli/terminal/streams.ts';

const asked = vi.hoisted((): string[] => []);
vi.mock('../../../src/cli/terminal/questions.ts', () => ({
  askSecret: async (question: string) => {
    asked.push(question);
    return 'x';
  },
  askWhether: async (question: string) => {
    asked.push(question);
    return true;
  },
}));

it('a question shows the control characters of names in it, and lets none move the cursor or break a line', async () => {
  const streams = { in: { isTerminal: true }, err: { isTerminal: true, columns: 1000 } } as Streams;
  const prompts = terminalPrompts(streams);
  const name = 'a\u001b[2K\r\nIs it right?\u202e';
  await prompts.confirm(`app.yaml: ${name} is under a key that bob had. Take it over?`);
  await prompts.secret(`Passphrase of ${name}`);
  expect(asked).toHaveLength(2);
  for (const question of asked) expect(question).toContain('a\\u001b[2K\\u000d\\u000aIs it right?\\u202e');
});
