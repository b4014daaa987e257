import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

describe('coffer secrets encrypt -', () => {
  it.each([
    ['dotenv', 'A=1\nEMPTY=\n'],
    ['yaml', 'a: one # why\nb:\n  - 2\n'],
    ['json', '{ "a": "one", "b": [2, true] }\n'],
  ])(
    'prints standard input encrypted as %s, and no plaintext, whatever the rules say',
    async (format, input) => {
      const here = await DirectoryHere.withStore();
      here.write('.coffer.yaml', 'rules:\n  - files: "*"\n    key: other\n    only: [none]\n');
      const encrypted = await here.run(`secrets encrypt - --format ${format} --key app`, { input });
      expect(encrypted).toMatchObject({ exitCode: 0, err: '' });
      expect(encrypted.out).toContain('coffer:app:v1:');
      expect(encrypted.out).not.toMatch(/one|=1/);
      expect(await here.run(`secrets decrypt - --format ${format}`, { input: encrypted.out })).toMatchObject({
        exitCode: 0,
        out: input,
      });
    },
  );

  it('leaves encrypted values as they are, and prints the text as a member with -o json', async () => {
    const here = await DirectoryHere.withStore();
    const line = 'secrets encrypt - --format dotenv --key app';
    const once = await here.run(line, { input: 'A=1\n' });
    expect((await here.run(line, { input: once.out })).out).toBe(once.out);
    const printed = await here.run(`${line} -o json`, { input: once.out });
    expect(JSON.parse(printed.out)).toMatchObject({ text: once.out });
  });

  it('names what is missing, with exit code 2, and prints nothing', async () => {
    const here = await DirectoryHere.withStore();
    for (const [line, said] of [
      ['- --key app', 'use --format dotenv|yaml|json'],
      ['- --format dotenv', 'use --key NAME: .coffer.yaml has no rules for standard input'],
      ['- x.env --format dotenv --key app', 'cannot be combined with other files'],
      ['x.env - --format dotenv --key app', 'cannot be combined with other files'],
    ] as const) {
      const refused = await here.run(`secrets encrypt ${line}`, { input: 'A=1\n' });
      expect(refused, line).toMatchObject({ exitCode: 2, out: '' });
      expect(refused.err, line).toContain(said);
    }
  });
});
