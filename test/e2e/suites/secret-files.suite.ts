import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Suite } from './index.ts';

const VALUE = /coffer:[\w./-]+:v\d+:[A-Za-z0-9+/]+=*/g;

const FILES: Readonly<Record<string, string>> = {
  'app.env': '\ufeff# top\r\nexport DB_PASSWORD="s3cret" # c\r\nPORT = 5432\r\nEMPTY=\r\nKEY="one\r\ntwo"',
  'app.yaml':
    'db: &db   # the database\n    password: "p\\tw"\n    port: 0x1F\n    tls: |\n      one\n      two\n\n    tags: [a,  {b: true}]\nnone: ~\nother:\n  same: ~\n---\nx: !tag y\n',
  'app.json': '{\n\t"a": {"b": 1.50, "c": [true, null, ""]},\n\t"d" : "\\u0041"\n}',
};
const NAMES = Object.keys(FILES);

export const secretFilesSuite: Suite = (here) => {
  const write = (name: string, text: string): void => writeFileSync(here().file(name), text);
  const read = (name: string): string => readFileSync(here().file(name), 'utf8');
  const valuesOf = (name: string): readonly string[] => read(name).match(VALUE) ?? [];
  const sealed = async (name: string, text: string): Promise<void> => {
    write(name, text);
    await here().ok(['secrets', 'encrypt', '--key', 'app', name]);
  };

  beforeAll(async () => {
    await here().ok('transit keys create app');
  });

  it('encrypts what is a value, leaves every other byte, and gives all of it back', async () => {
    for (const name of NAMES) write(name, FILES[name] ?? '');
    await here().ok(['secrets', 'encrypt', '--key', 'app', ...NAMES]);
    expect(read('app.env')).toMatch(
      /^\ufeff# top\r\nexport DB_PASSWORD=coffer:app:v1:\S+ # c\r\nPORT = coffer:\S+\r\nEMPTY=\r\nKEY=coffer:\S+$/,
    );
    expect(read('app.yaml').replace(VALUE, '*')).toBe(
      'db: &db   # the database\n    password: *\n    port: *\n    tls: *\n\n    tags: ["*",  {b: "*"}]\nnone: ~\nother:\n  same: ~\n---\nx: !tag *\n',
    );
    expect(read('app.json').replace(VALUE, '*')).toBe(
      '{\n\t"a": {"b": "*", "c": ["*", null, ""]},\n\t"d" : "*"\n}',
    );
    await here().ok(['secrets', 'check', ...NAMES]);
    const before = NAMES.map(read);
    await here().ok(['secrets', 'encrypt', '--key', 'app', ...NAMES]);
    expect(NAMES.map(read)).toEqual(before);
    await here().ok(['secrets', 'decrypt', ...NAMES]);
    expect(NAMES.map(read)).toEqual(Object.values(FILES));
  });

  it('prints one value as it is meant, with nothing added', async () => {
    for (const name of NAMES) await sealed(name, FILES[name] ?? '');
    expect((await here().run('secrets get app.env KEY')).stdout).toBe('one\r\ntwo');
    expect((await here().run('secrets get app.yaml db.password')).stdout).toBe('p\tw');
    expect((await here().run('secrets get app.yaml db.tls')).stdout).toBe('one\ntwo\n');
    expect((await here().run('secrets get app.yaml 2#x')).stdout).toBe('y');
    expect((await here().run('secrets get app.json d')).stdout).toBe('A');
    expect(await here().json('secrets get app.json a.b')).toEqual({ value: '1.50' });
    expect((await here().run('secrets get app.env EMPTY')).stdout).toBe('');
    expect(await here().refused('secrets get app.json a', 3)).toContain('e.g. a.b');
  });

  it('sets a value and touches no other line', async () => {
    await sealed('set.yaml', 'a: 1 # n\nb: text\nc:\n  d: true\n');
    const lines = read('set.yaml').split('\n');
    await here().ok('secrets set set.yaml a', { input: '27\n' });
    await here().ok(['secrets', 'set', 'set.yaml', 'c.new', "it's # one"]);
    const now = read('set.yaml').split('\n');
    expect(now.filter((line) => !lines.includes(line))).toEqual([
      expect.stringMatching(/^a: coffer:app:v1:\S+ # n$/),
      expect.stringMatching(/^ {2}new: coffer:app:v1:\S+$/),
    ]);
    await here().ok('secrets decrypt set.yaml');
    expect(read('set.yaml')).toBe(`a: 27 # n\nb: text\nc:\n  d: true\n  new: "it's # one"\n`);
  });

  it('takes a value out without a key', async () => {
    await sealed('unset.env', 'A=1\nB=2\nC=3\n');
    const [a, , c] = valuesOf('unset.env');
    await here()
      .with({ COFFER_MASTER_KEY: undefined, COFFER_TOKEN: undefined })
      .ok('secrets unset unset.env B');
    expect(read('unset.env')).toBe(`A=${a}\nC=${c}\n`);
    expect(await here().refused('secrets unset unset.env B', 3)).toContain('unset.env has no value B');
  });

  it('rewraps what is not yet under the latest version, and nothing else', async () => {
    await here().ok('transit keys create turning');
    write('turn.env', 'A=1\nB=2\n');
    await here().ok('secrets encrypt --key turning turn.env');
    await here().ok('transit keys rotate turning');
    await here().ok('secrets set turn.env B 3');
    const [, second] = valuesOf('turn.env');
    await here().ok('secrets rewrap turn.env');
    const once = valuesOf('turn.env');
    expect(once).toEqual([expect.stringMatching(/^coffer:turning:v2:/), second]);
    await here().ok('secrets rewrap turn.env');
    expect(valuesOf('turn.env')).toEqual(once);
    await here().ok('secrets decrypt turn.env');
    expect(read('turn.env')).toBe('A=1\nB=3\n');
  });

  it('says of a value that was moved where it belongs, and changes nothing', async () => {
    await sealed('moved.yaml', 'user: u\npassword: p\nlist: [x, y]\n');
    const [user = '', password = '', x = ''] = valuesOf('moved.yaml');
    write('moved.yaml', `user: ${password}\npassword: ${user}\nlist:\n- ${x}\n`);
    const swapped = read('moved.yaml');
    const { exitCode, stderr } = await here().run('secrets decrypt moved.yaml');
    expect(exitCode).toBe(4);
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(
        /^coffer: moved.yaml:1: user: this value was encrypted under another name, password \(/,
      ),
      expect.stringMatching(
        /^coffer: moved.yaml:2: password: this value was encrypted under another name, user \(/,
      ),
      '',
    ]);
    expect(read('moved.yaml')).toBe(swapped);
    write('moved.yaml', `list:\n- new\n- ${x}\n`);
    expect(await here().refused('secrets get moved.yaml list.1', 4)).toContain('under another name, list.0');
  });

  it.each([
    ['cut off', (value: string) => value.slice(0, -5), 'the value appears to be truncated'],
    ['cut down to its head', (value: string) => value.slice(0, 20), 'the value appears to be truncated'],
    ['altered', (value: string) => value.replace(/.{3}$/, 'AA='), 'the value was modified'],
    ['of a version that is not there', (value: string) => value.replace(':v1:', ':v7:'), 'has no version 7'],
  ])('refuses a value that is %s with code 4, naming file, line and name', async (_, spoil, message) => {
    await sealed('bad.env', 'A=1\nB=22222222\n');
    const [, value = ''] = valuesOf('bad.env');
    write('bad.env', read('bad.env').replace(value, spoil(value)));
    const before = read('bad.env');
    for (const command of ['decrypt', 'rewrap']) {
      const refusal = await here().refused(['secrets', command, 'bad.env'], 4);
      expect(refusal).toContain('coffer: bad.env:2: B: ');
      expect(refusal).toContain(message);
    }
    expect(read('bad.env')).toBe(before);
  });

  it('says of a key that is gone, or of a version that is too old, what it is', async () => {
    await here().ok('transit keys create passing');
    write('old.env', 'A=1\n');
    await here().ok('secrets encrypt --key passing old.env');
    await here().ok('transit keys rotate passing');
    await here().ok('transit keys config passing --min-decryption-version 2 --deletion-allowed');
    expect(await here().refused('secrets decrypt old.env', 4)).toContain(
      'old.env:1: A: version 1 of key "passing" is no longer allowed to decrypt',
    );
    await here().ok('transit keys revoke passing 1');
    expect(await here().refused('secrets decrypt old.env', 4)).toContain(
      'old.env:1: A: version 1 of key "passing" is revoked (to use it again, run "coffer transit keys reinstate passing 1")',
    );
    await here().ok('transit keys reinstate passing 1');
    await here().ok('transit keys soft-delete passing');
    expect(await here().refused('secrets decrypt old.env', 4)).toContain(
      'old.env:1: A: key "passing" is soft-deleted (run "coffer transit keys soft-delete-restore passing" to use it again)',
    );
    await here().ok('transit keys soft-delete-restore passing');
    await here().ok('transit keys config passing --min-encryption-version 2');
    await here().ok('transit keys trim passing --min-available-version 2 --yes');
    expect(await here().refused('secrets decrypt old.env', 4)).toContain(
      'old.env:1: A: version 1 of key "passing" was trimmed (its key material was deleted; if a backup',
    );
    await here().ok('transit keys delete passing --yes');
    expect(await here().refused('secrets decrypt old.env', 3)).toContain('old.env:1: A: no key "passing"');
    write('old.env', 'B=1\n');
    expect(await here().refused('secrets encrypt --key passing old.env', 3)).toContain('no key "passing"');
    expect(await here().refused('transit keys read passing', 3)).toContain('passing');
  });

  it('refuses keys that can not bind a value to its place, before anything is changed', async () => {
    await here().ok('transit keys create wide --type rsa-2048');
    await here().ok('transit keys create same --derived --convergent-encryption');
    write('rsa.env', 'A=1\n');
    for (const key of ['wide', 'same']) {
      const refusal = await here().refused(['secrets', 'encrypt', '--key', key, 'rsa.env'], 2);
      expect(refusal).toContain(`key "${key}" cannot encrypt values in files`);
    }
    expect(read('rsa.env')).toBe('A=1\n');
  });

  it('takes derived keys, with the place as their context', async () => {
    await here().ok('transit keys create apart --derived');
    write('derived.env', 'A=1\n');
    await here().ok('secrets encrypt --key apart derived.env');
    expect((await here().run('secrets get derived.env A')).stdout).toBe('1');
  });

  it('finds the key of another mount by the value alone', async () => {
    await here().ok('mounts add team/a');
    await here().ok('transit keys create far --mount team/a');
    write('mount.env', 'A=1\n');
    await here().ok('secrets encrypt --key far --mount team/a mount.env');
    expect(read('mount.env')).toMatch(/^A=coffer:team\/a\/far:v1:\S+\n$/);
    expect((await here().run('secrets get mount.env A')).stdout).toBe('1');
  });

  it('holds values that transit itself opens', async () => {
    await sealed('plain.env', 'TOKEN="a b"\n');
    const [, , version, payload] = (valuesOf('plain.env')[0] ?? '').split(':');
    const ciphertext = `service:${version}:${payload}`;
    expect(
      (await here().run(['transit', 'decrypt', 'app', ciphertext, '--associated-data-text', 'TOKEN'])).stdout,
    ).toBe('"a b"');
  });

  it('fills values into a template, and gives a file back on standard output', async () => {
    await sealed('source.env', 'PW="p w"\nUSER=u\n');
    write('nginx.tpl', 'user {{ coffer:source.env#USER }};\npass "{{coffer:source.env#PW}}";\n');
    expect((await here().run('secrets inject --in nginx.tpl')).stdout).toBe('user u;\npass "p w";\n');
    await here().ok('secrets inject --in source.env --out opened');
    expect(read('opened')).toBe('PW="p w"\nUSER=u\n');
    const stream = { input: `{"a": 1, "b": "{{ coffer:source.env#USER }}"}` };
    expect((await here().run('secrets inject --format json', stream)).stdout).toBe('{"a": 1, "b": "u"}');
    expect(await here().refused('secrets inject', 3, { input: 'x\n{{ coffer:source.env#NO }}' })).toContain(
      'standard input:2: source.env has no value NO',
    );
    const [value = ''] = valuesOf('source.env');
    expect(await here().refused('secrets inject', 2, { input: `x\n${value}` })).toContain(
      'standard input:2: a ciphertext without the name of a value cannot be decrypted here',
    );
  });

  it('answers programs with what was changed', async () => {
    write('json.env', 'A=1\nB=\n');
    expect(await here().json('secrets encrypt --key app json.env')).toEqual({
      files: [{ file: 'json.env', changed: 1 }],
    });
    expect(await here().json('secrets rewrap json.env')).toEqual({
      files: [{ file: 'json.env', changed: 0 }],
    });
    expect(await here().json('secrets set json.env C 1')).toEqual({
      file: 'json.env',
      name: 'C',
      added: true,
    });
    expect(await here().json('secrets unset json.env C')).toEqual({ file: 'json.env', name: 'C' });
  });

  it('does what it can of several files, and fails with the code of the first that it can not', async () => {
    await sealed('good.env', 'A=1\n');
    const { exitCode, stderr } = await here().run('secrets decrypt missing.env good.env');
    expect(exitCode).toBe(2);
    expect(stderr).toBe('coffer: cannot read missing.env: no such file\n');
    expect(read('good.env')).toBe('A=1\n');
  });

  it('takes thousands of values in one go', async () => {
    const text = Array.from({ length: 2_500 }, (_, n) => `NAME_${n}=value ${n}\n`).join('');
    await sealed('many.env', text);
    expect(valuesOf('many.env')).toHaveLength(2_500);
    await here().ok('secrets decrypt many.env');
    expect(read('many.env')).toBe(text);
  });
};
