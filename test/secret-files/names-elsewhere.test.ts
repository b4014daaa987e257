import { describe, expect, it } from 'vitest';
import { nameOf } from '../../src/secret-files/format.ts';
import { loadFormat } from '../../src/secret-files/formats.ts';
import { ownName, stepsElsewhere } from '../../src/secret-files/names-elsewhere.ts';

describe('the name of a value in the form of another program', () => {
  it.each([
    ['["db"]["password"]', ['db', 'password']],
    ["['db']['password']", ['db', 'password']],
    ['["servers"][0]["key"]', ['servers', '0', 'key']],
    ['["tls.key"]', ['tls.key']],
    ['.db.password', ['db', 'password']],
    ['$.db.password', ['db', 'password']],
    ['$["db"].password', ['db', 'password']],
    ['servers[0].key', ['servers', '0', 'key']],
    ['db["password"]', ['db', 'password']],
    ['db.password', ['db', 'password']],
  ])('is read into its keys: %s', (typed, steps) => {
    expect(stepsElsewhere(typed)).toEqual(steps);
  });

  it.each([
    '',
    '$',
    '.',
    '[',
    '[]',
    '["a"',
    '["a"]b',
    'a]b',
    'a..b',
    'x#y',
    '2#a.b',
    'a\\.b',
    '$x',
    '"a"',
    '[a]',
  ])('is no other text: %s', (typed) => {
    expect(stepsElsewhere(typed)).toBeUndefined();
  });

  it.each([
    ['["db"]["password"]', 'db.password'],
    ['["new"]["value"]', 'new.value'],
    ['["tls.key"]', 'tls\\.key'],
    ['.db.password', 'db.password'],
    ['$.new', 'new'],
    ['list[0]', 'list.0'],
    // A key may be called so, and the file has no list of that name.
    ['spring[0]', 'spring[0]'],
    ['new["value"]', 'new["value"]'],
    ['odd[0]', 'odd[0]'],
    ['.hidden', '.hidden'],
  ])('stands for that of the file: %s for %s', async (typed, name) => {
    const format = await loadFormat('yaml');
    const text = 'db: {password: x}\nlist: [y]\n"odd[0]": z\nodd: [z]\n"": {hidden: z}\n';
    expect(ownName(format.parse(text, 'f.yaml'), typed)).toBe(name);
  });

  it('costs in proportion to its length', () => {
    const typed = '["a"]'.repeat(20_000);
    const before = performance.now();
    expect(nameOf(stepsElsewhere(typed) ?? [])).toHaveLength(39_999);
    expect(stepsElsewhere(`${typed}[`)).toBeUndefined();
    expect(performance.now() - before).toBeLessThan(1000);
  });
});
