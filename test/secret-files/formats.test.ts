import { describe, expect, it } from 'vitest';
import { formatOf } from '../../src/secret-files/formats.ts';

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
