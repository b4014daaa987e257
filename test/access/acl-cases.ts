import { expect, it } from 'vitest';
import { Acl } from '../../src/access/acl.ts';
import type { Capability } from '../../src/access/capability.ts';
import { parsePolicy } from '../../src/access/policy.ts';

/** What policies, each given as a text in HCL, grant together. */
export const aclOf = (...policies: string[]): Acl =>
  new Acl(policies.flatMap((text) => parsePolicy(text).rules));

/** Each line: path, capability, whether it is allowed. */
function casesOf(table: string): [path: string, capability: Capability, allowed: boolean][] {
  return table
    .trim()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [path = '', capability = '', verdict = ''] = line.trim().split(/\s+/);
      if (verdict !== 'yes' && verdict !== 'no') throw new Error(`bad line: ${line}`);
      return [path === '(empty)' ? '' : path, capability as Capability, verdict === 'yes'];
    });
}

/** A test for each line of a table. */
export function check(acl: Acl, table: string): void {
  it.each(casesOf(table))('gives for %s and %s the verdict %s', (path, capability, allowed) => {
    expect(acl.allows(path, capability)).toBe(allowed);
    // Once more, from the memory of paths.
    expect(acl.allows(path, capability)).toBe(allowed);
  });
}
