import { describe, expect, it } from 'vitest';
import { everywhereOptions } from '../../src/cli/parse/everywhere.ts';
import { specOf } from '../../src/cli/parse/operation-spec.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import { leaves } from './catalogue-leaves.ts';

/* Errors of operations name parameters, which commands print as options. @see docs/decisions/0269 */

describe('an option in place of a parameter in an error', () => {
  it('is one that the command has', async () => {
    const wrong: string[] = [];
    let found = 0;
    for (const [words, node] of leaves(catalogue)) {
      const { declaration } = await node.load();
      const { options, labelOf } = specOf(declaration);
      const flags = new Set([...everywhereOptions, ...options].map(({ flag }) => `--${flag}`));
      const labels = Object.keys(declaration.params).map((name) => labelOf?.(name) ?? '');
      for (const label of labels.filter((text) => text.startsWith('--'))) {
        found++;
        if (!flags.has(label)) wrong.push(`${words}: ${label}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(found).toBeGreaterThan(150);
  });
});
