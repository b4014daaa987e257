import { Sandbox } from '../sandbox.ts';

/** How often each member of the crowd does each of its works. */
export const ROUNDS = 1;

/** What one of many does that work on one store at the same time: says each command line once it is acknowledged. */
export async function crowd(template: Sandbox, [member = '0']: readonly string[]): Promise<void> {
  const box = new Sandbox(template.root, Number(member) * 1000);
  for (let round = 0; round < ROUNDS; round++) {
    for (const words of [
      ['transit', 'keys', 'create', `key-${member}-${round}`],
      ['transit', 'keys', 'rotate', 'letters'],
      ['transit', 'encrypt', 'letters', `text of ${member}`],
      ['transit', 'encrypt', `upserted-${member}-${round}`, 'text'],
      ['tags', 'create', `tag-${member}-${round}`],
      ['tags', 'attach', `tag-${member}-${round}`, '--workspace', 'alpha', 'beta'],
    ]) {
      const result = await box.ok(words);
      process.stdout.write(`${JSON.stringify({ words, result })}\n`);
    }
  }
}
