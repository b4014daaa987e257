import { describe, expect, it } from 'vitest';
import { covers, isSecret, mayCoverVariable, ruleFor, rulesIn } from '../../src/secret-files/rules.ts';
import { yaml } from '../../src/secret-files/yaml.ts';
import { refusal } from '../refusal.ts';

const rules = (text: string) => rulesIn(yaml.parse(text, '.coffer.yaml'), '.coffer.yaml');

describe('a pattern of paths', () => {
  it.each([
    ['*.env', 'app.env', true],
    ['*.env', 'a/b/app.env', true],
    ['/app.env', 'app.env', true],
    ['/app.env', 'a/app.env', false],
    ['config/*.yaml', 'config/prod.yaml', true],
    ['config/*.yaml', 'a/config/prod.yaml', false],
    ['config/*.yaml', 'config/a/prod.yaml', false],
    ['config/**/*.yaml', 'config/a/b/prod.yaml', true],
    ['config/**/*.yaml', 'config/prod.yaml', true],
    ['config', 'config/a/prod.yaml', true],
    ['**/x', 'a/b/x', true],
    ['**/x', 'x', true],
    ['db/**', 'db', true],
    ['db/**', 'db/a/b', true],
    ['db/**', 'a', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['.env*', '.env.local', true],
    ['[a]', 'a', false],
    ['', '', false],
    ['', 'a', false],
  ])('%j meets %j: %j', (pattern, path, isMet) => {
    expect(covers(pattern.split('/'), path.split('/'))).toBe(isMet);
  });

  it.each([
    ['password', 'PASSWORD', true],
    ['password', 'DB_PASSWORD', true],
    ['password', 'PASSWORD_OLD', true],
    ['password', 'DBPASSWORD', false],
    ['password', 'PASSWORDS', false],
    ['/password', 'PASSWORD', true],
    ['/password', 'DB_PASSWORD', false],
    ['db.password', 'DB_PASSWORD', true],
    ['db.password', 'DB_PASSWORD_OLD', true],
    ['db.password', 'A_DB_PASSWORD', false],
    ['db.**', 'DB_ANY_THING', true],
    ['db.**', 'DB', true],
    ['**.key', 'KEY', true],
    ['**.key', 'A_B_KEY', true],
    ['db.*-key', 'DB_API_KEY', true],
    ['/', 'ANYTHING', false],
  ])('%j may cover the variable %s: %j', (pattern, variable, may) => {
    expect(mayCoverVariable(pattern.split(/[./]/), variable)).toBe(may);
  });

  it('takes no time to fail, however many stars it has', () => {
    const many = 'a*'.repeat(2_000);
    expect(covers([`${many}b`], ['a'.repeat(5_000)])).toBe(false);
    expect(covers(['', ...Array<string>(300).fill('**'), 'b'], Array<string>(300).fill('a'))).toBe(false);
  });
});

describe('the rules for encryption', () => {
  const text = [
    'rules:',
    '  - files: ["*.env", config/*.yaml]',
    '    key: app',
    '  - {files: "*.json", key: other, mount: team/a, only: [password, "db.*"], except: db.host}',
    '  - files: secrets.conf',
    '    key: app',
    '    format: dotenv',
  ].join('\n');

  it('say for each file which key and format', () => {
    expect(ruleFor(rules(text), 'x/y.env')).toMatchObject({
      key: 'app',
      mount: undefined,
      format: undefined,
    });
    expect(ruleFor(rules(text), 'a.json')).toMatchObject({ key: 'other', mount: 'team/a' });
    expect(ruleFor(rules(text), 'secrets.conf')).toMatchObject({ format: 'dotenv' });
    expect(ruleFor(rules(text), 'README.md')).toBeUndefined();
    const directory = rules('rules: [{ files: [secrets/, deploy/live/], key: app }]');
    expect(ruleFor(directory, 'a/secrets/b.env')).toBeDefined();
    expect(ruleFor(directory, 'deploy/live/b.env')).toBeDefined();
    expect(ruleFor(directory, 'deploy/b.env')).toBeUndefined();
  });

  it.each([
    '.coffer.yaml',
    'a/.coffer.yaml',
    '.gitattributes',
    'a/.gitignore',
    '.coffer/keys/app.v1.x',
    'a/.coffer/x',
  ])('never encrypt what configures Coffer or git: %s', (path) => {
    const all = rules('rules: [{files: ["*", "**/*", "*.yaml"], key: k}]');
    expect(ruleFor(all, path)).toBeUndefined();
  });

  it.each(['rules: [app]', 'rules: app', 'rules: {files: "*.env", key: app}'])(
    'are a list of rules, not %s',
    (text) => {
      expect(refusal(() => rules(text)).message).toMatch(/:1: "rules" must be a list of rules, /);
    },
  );

  it('begin at the directory of the rules where they begin with ./, as in commands, and name files with brackets', () => {
    const patterns = rules('rules:\n  - files: [./a.env, ./conf/, "app/[id].env"]\n    key: k\n');
    for (const [path, isFound] of [
      ['a.env', true],
      ['b/a.env', false],
      ['conf/x.env', true],
      ['app/[id].env', true],
      ['app/i.env', false],
    ] as const)
      expect([path, ruleFor(patterns, path) !== undefined]).toEqual([path, isFound]);
  });

  it('are not called rule:', () => {
    expect(refusal(() => rules('rule: [{files: a, key: b}]')).message).toContain(
      'unknown setting rule.0.files',
    );
  });

  it.each([
    ['rules:\n  - files: &f a\n    key: k\n  - files: [b, *f]\n    key: k\n', 4, 'rules.1.files.1'],
    ['rules:\n  - &r {files: a, key: k}\n  - <<: *r\n    only: x\n', 3, 'rules.1.<<'],
    ['rules:\n  - files: a\n    key: &k k\n    mount: *k\n', 4, 'rules.0.mount'],
  ])('have no alias, without which they would mean less than they seem to: %j', (broken, line, name) => {
    expect(refusal(() => rules(broken)).message).toBe(
      `.coffer.yaml:${line}: ${name} is a YAML alias, which is not followed`,
    );
  });

  it('say for each value whether it is secret, and never that of an empty one', () => {
    const [, rule] = rules(text);
    const secret = yaml
      .parse('db: {host: h, user: u, port: 1, empty: "", none: ~}\nx: {password: {a: p}}\ny: z\n', 'f')
      .places.filter((place) => isSecret(place, rule))
      .map(({ name }) => name);
    expect(secret).toEqual(['db.user', 'db.port', 'x.password.a']);
  });

  it.each([
    ['', '.coffer.yaml:1: no rules'],
    ['rules: []', '.coffer.yaml:1: no rules'],
    ['rules:\n  - files: a\n', '.coffer.yaml:2: this rule has no "key"'],
    ['rules:\n  - key: a\n', '.coffer.yaml:2: this rule has no "files"'],
    ['rules:\n  - files: a\n    key: k\n    onyl: x\n', '.coffer.yaml:4: unknown setting rules.0.onyl'],
    ['rule:\n  - files: a\n', '.coffer.yaml:2: unknown setting rule.0.files'],
    ['rules: x\n', '.coffer.yaml:1: "rules" must be a list of rules, each with "files" and "key"'],
    ['rules:\n  - files: a\n    key: [k]\n', '.coffer.yaml:3: rules.0.key.0 must be a string'],
    [
      'rules:\n  - files: ["a", ""]\n    key: k\n',
      '.coffer.yaml:2: rules.0.files.1 must be a string or a list of strings',
    ],
    [
      'rules:\n  - files: a\n    key: k\n    only:\n',
      '.coffer.yaml:4: rules.0.only must be a string or a list of strings',
    ],
    [
      'rules:\n  - files: [[a]]\n    key: k\n',
      '.coffer.yaml:2: rules.0.files.0.0 must be a string or a list of strings',
    ],
    ['rules:\n  - files: {a: b}\n    key:\n', '.coffer.yaml:3: rules.0.key must be a string'],
    ['rules:\n  - files: a\n    key: ~\n', '.coffer.yaml:3: rules.0.key must be a string'],
    ['rules:\n  - files: a\n    key: k\n    mount: sys\n', '.coffer.yaml:4: invalid mount "sys"'],
    ['rules:\n  - files: a\n    key: k\n    format: toml\n', '.coffer.yaml:4: unknown format "toml"'],
    [
      'rules:\n  - files: [a, "!b.env"]\n    key: k\n',
      '.coffer.yaml:2: the pattern "!b.env" matches no file: "!" cannot exclude files',
    ],
    [
      'rules:\n  - files: ../a.env\n    key: k\n',
      '.coffer.yaml:2: the pattern "../a.env" matches no file: ".." leads out of the directory of .coffer.yaml',
    ],
    [
      'rules:\n  - files: .*\\.env$\n    key: k\n',
      '.coffer.yaml:2: the pattern ".*\\\\.env$" matches no file: directories are separated by "/", and "\\" has no meaning',
    ],
    [
      'rules:\n  - files: "{a,b}.env"\n    key: k\n',
      '.coffer.yaml:2: the pattern "{a,b}.env" matches no file: braces have no meaning: write a list of patterns',
    ],
  ])('are refused in case %#, naming line and member', (broken, message) => {
    expect(refusal(() => rules(broken))).toMatchObject({ kind: 'invalid', message });
  });
});
