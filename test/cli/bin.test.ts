import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';

const bin = fileURLToPath(new URL('../../bin/', import.meta.url));

describe('bin/coffer', () => {
  it('is written in a syntax that a Node of 2015 reads, so that it can say which one is needed', async () => {
    const source = readFileSync(join(bin, 'coffer'), 'utf8');
    const { warnings } = await transform(source, { target: 'es5', loader: 'js' });
    expect(warnings).toEqual([]);
  });

  it.each(['4.0.0', '18.20.0', '24.14.9'])('tells users of Node %s what to do', (version) => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require('${bin}coffer')`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', pretend], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(
      new RegExp(`^coffer: Node 24\\.15 or newer is needed, this is ${version}[^\\n]*\\n$`),
    );
  });

  it('says what to run in a checkout that has not been built', () => {
    const directory = mkdtempSync(join(tmpdir(), 'coffer-bin-'));
    try {
      cpSync(bin, join(directory, 'bin'), { recursive: true });
      const { status, stderr } = spawnSync(process.execPath, [join(directory, 'bin/coffer')], {
        encoding: 'utf8',
      });
      expect(status).toBe(1);
      expect(stderr).toBe('coffer: dist/coffer.cjs is missing (in a checkout, run "npm run build" first)\n');
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
