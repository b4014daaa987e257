import { describe, expect, it } from 'vitest';
import { lineCounter } from '../../src/secret-files/format.ts';
import { formatOf } from '../../src/secret-files/formats.ts';

describe('the lines of a file', () => {
  it('are counted from one, in whichever order they are asked for', () => {
    const lineOf = lineCounter('a\n\nb\n');
    expect([0, 1, 2, 3, 4, 5, 3, 0, 2, 5].map(lineOf)).toEqual([1, 1, 2, 3, 3, 4, 3, 1, 2, 4]);
  });
});

describe('the format of a file with secrets', () => {
  it.each([
    ['.env', 'dotenv'],
    ['app.env', 'dotenv'],
    ['.env.local', 'dotenv'],
    ['.env.production.local', 'dotenv'],
    ['.env.txt', 'dotenv'],
    ['app.local.env', 'dotenv'],
    ['.json.env', 'dotenv'],
    ['values.yaml.env', 'dotenv'],
    ['values.yaml', 'yaml'],
    ['values.yml', 'yaml'],
    ['.env.yaml', 'yaml'],
    ['.env.yml', 'yaml'],
    ['app.env.yaml', 'yaml'],
    ['app.env.yml', 'yaml'],
    ['app.json.yaml', 'yaml'],
    ['config.json', 'json'],
    ['.env.json', 'json'],
    ['app.env.json', 'json'],
    ['app.yaml.json', 'json'],
    ['env', undefined],
    ['.envrc', undefined],
    ['app.env.bak', undefined],
    ['.environment', undefined],
    ['.json', undefined],
    ['.yaml', undefined],
    ['json', undefined],
    ['app.jsonc', undefined],
    ['notes.txt', undefined],
  ])('shows in the name %s, whatever the directory: %s', (name, format) => {
    for (const path of [name, `/srv/app/${name}`, `.env/${name}`, `app.json/${name}`, `values.yaml/${name}`])
      expect([path, formatOf(path)]).toEqual([path, format]);
  });
});
