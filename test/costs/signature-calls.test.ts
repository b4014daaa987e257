import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const program = fileURLToPath(new URL('signature-calls-program.ts', import.meta.url));

it('a signature of ssh takes an agent no more than 450 calls of functions of ours, both of its requests together', () => {
  const printed = execFileSync(process.execPath, [program], { encoding: 'utf8' });
  const { calls } = JSON.parse(printed) as { readonly calls: number };
  expect(calls).toBeGreaterThan(100);
  expect(calls).toBeLessThanOrEqual(450);
});
