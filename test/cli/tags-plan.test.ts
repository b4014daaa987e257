import { describe, expect, it } from 'vitest';
import { planOf } from '../../src/cli/tags/plan.ts';
import type { Whole } from '../../src/cli/tags/surroundings.ts';
import type { TagFile } from '../../src/tag-files/tag-file.ts';

const file: TagFile = {
  tags: [],
  workspaces: new Map([['web', { tags: ['new'], bindings: new Map([['a', '1']]) }]]),
  projects: new Map([['shop', new Map([['a', '1']])]]),
};
const whole: Whole = {
  tags: [],
  workspaces: [
    { id: 'ws-1', name: 'web', tags: ['old'], bindings: new Map([['b', '2']]), project: undefined },
  ],
  projects: [{ id: 'prj-1', name: 'shop', bindings: new Map([['b', '2']]) }],
  isWhole: true,
};
const options = { prunes: false, owns: [] };

describe('a plan for tags', () => {
  it('removes what the file does not have, of tags and of keys', () => {
    const { removed, unbound } = planOf(file, whole, { ...options, addsOnly: false });
    expect(removed).toEqual([{ workspace: 'web', tag: 'old' }]);
    expect(unbound.map(({ on, name, key }) => [on, name, key])).toEqual([
      ['project', 'shop', 'b'],
      ['workspace', 'web', 'b'],
    ]);
  });

  it('that only adds removes nothing, of tags or of keys', () => {
    const { added, bound, removed, unbound } = planOf(file, whole, { ...options, addsOnly: true });
    expect(added).toEqual([{ workspace: 'web', tag: 'new' }]);
    expect(bound).toHaveLength(2);
    expect({ removed, unbound }).toEqual({ removed: [], unbound: [] });
  });
});
