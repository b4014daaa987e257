import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeMemoryDirectory } from '../../../src/cli/memory/memory-directory.ts';
import { planVariables } from '../../../src/cli/processes/child-variables.ts';
import { withFiles } from '../../../src/cli/processes/value-files.ts';
import { loadFormat } from '../../../src/secret-files/formats.ts';
import { refusal } from '../../refusal.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';

const VALUE = 'coffer:app:v1:aG9zdGlsZSBpbnB1dCBvZiBzb21lYm9keSBlbHNl';

async function fileOf(format: 'yaml' | 'dotenv' | 'json', text: string) {
  const reader = await loadFormat(format);
  return { path: 'a', format: reader, file: reader.parse(text, 'a') };
}

const names = (sources: readonly { readonly variable: string }[]) => sources.map(({ variable }) => variable);

describe('the variables of a program', () => {
  it('are called like the places of their values, in capital letters, and never begin with a digit', async () => {
    const yaml = await fileOf(
      'yaml',
      'db:\n  pass-word: x\n7up: x\nlist: [a, b]\nnothing: null\nempty: ""\n',
    );
    expect(names(planVariables({}, { files: [yaml], only: [], overwrite: false }).sources)).toEqual([
      'DB_PASS_WORD',
      '_7UP',
      'LIST_0',
      'LIST_1',
      'EMPTY',
    ]);
    const dotenv = await fileOf('dotenv', 'lower=1\nNOTHING=null\n');
    expect(names(planVariables({}, { files: [dotenv], only: [], overwrite: false }).sources)).toEqual([
      'lower',
      'NOTHING',
    ]);
  });

  it('are not two values of a file under one name, and are those of the last file', async () => {
    const twice = await fileOf('yaml', 'a_b: x\na:\n  b: y\n');
    expect(refusal(() => planVariables({}, { files: [twice], only: [], overwrite: false }))).toMatchObject({
      kind: 'invalid',
      message: 'a: a_b and a.b both map to the variable A_B',
    });
    const files = [await fileOf('dotenv', 'A=1\nA=2\nB=1\n'), await fileOf('dotenv', 'B=2\n')];
    const { sources } = planVariables({}, { files, only: [], overwrite: false });
    expect(sources.map(({ variable, place }) => [variable, place.text])).toEqual([
      ['A', '2'],
      ['B', '2'],
    ]);
  });

  it('are those of the environment where both have one, unless files are to win, also empty ones', async () => {
    const files = [await fileOf('dotenv', 'A=1\nB=1\nC=1\nconstructor=1\n')];
    const environment = { A: 'mine', B: '', C: undefined };
    const planned = (overwrite: boolean) => {
      const { sources, kept } = planVariables(environment, { files, only: [], overwrite });
      return { sources: names(sources), kept };
    };
    expect(planned(false)).toEqual({ sources: ['C', 'constructor'], kept: ['A', 'B'] });
    expect(planned(true)).toEqual({ sources: ['A', 'B', 'C', 'constructor'], kept: [] });
  });

  it('are only the wanted ones, which must be there, and encrypted ones of the environment', async () => {
    const files = [await fileOf('dotenv', 'A=1\nB=1\nD=1\n')];
    const environment = { C: VALUE, D: 'mine', E: 'plain', COFFER_PASSPHRASE: VALUE };
    const planned = (only: readonly string[]) => {
      const { sources, kept, variables } = planVariables(environment, { files, only, overwrite: false });
      return { sources: names(sources), kept, variables };
    };
    const variables = { C: VALUE, D: 'mine', E: 'plain' };
    expect(planned([])).toEqual({ sources: ['C', 'A', 'B'], kept: ['D'], variables });
    expect(planned(['A', 'D'])).toEqual({ sources: ['A'], kept: ['D'], variables });
    expect(planned(['C'])).toEqual({ sources: ['C'], kept: [], variables });
    for (const missing of ['E', 'F', 'COFFER_PASSPHRASE', 'constructor'])
      expect(refusal(() => planned([missing]))).toEqual({
        kind: 'not-found',
        message: `${missing} is neither a value in the files nor an encrypted environment variable`,
        field: '--only',
      });
  });
});

describe('values that are written to files', () => {
  it('leave none behind when one of them cannot be written', () => {
    const environment = { XDG_RUNTIME_DIR: temporaryDirectory() };
    const probe = makeMemoryDirectory(environment, 'probe', true);
    probe.remove();
    const left = () => readdirSync(dirname(probe.path)).filter((name) => name.startsWith('exec-'));
    const before = left();
    const long = 'N'.repeat(300);
    expect(() => withFiles(environment, { A: 'secret', [long]: 'secret' }, ['A', long], true)).toThrow(
      /ENAMETOOLONG/,
    );
    expect(left()).toEqual(before);
    expect(refusal(() => withFiles(environment, { A: 'x' }, ['A', 'constructor'], true))).toMatchObject({
      kind: 'not-found',
      message: 'no variable constructor to write to a file',
    });
    const { variables, remove } = withFiles(environment, { 'a/b': 'secret', B: 'x' }, ['a/b', 'a/b'], true);
    expect([variables['B'], readFileSync(variables['a/b'] ?? '', 'utf8')]).toEqual(['x', 'secret']);
    expect(statSync(variables['a/b'] ?? '').mode & 0o777).toBe(0o600);
    remove();
    expect(left()).toEqual(before);
  });
});
