import { describe, expect, it } from 'vitest';
import { Control, type Member } from '../../src/service/control.ts';
import type { Sighting } from '../../src/store/backends/witness.ts';

const control = () => new Control('/none', { info: () => undefined } as never, () => ({}));
const member = (seen: () => Promise<Sighting | undefined>) => ({ seen }) as unknown as Member;
const at = (revision: number): Sighting => ({ generation: 1, revision, id: String(revision) });

describe('what the processes of a server have seen of the store', () => {
  it('is the newest state that any of them has seen, or had seen before it ended, for each new one', async () => {
    const all = control();
    expect(await all.seen()).toBeUndefined();
    const members = [at(3), undefined, at(7), at(5)].map((seen) => member(async () => seen));
    members.push(member(() => Promise.reject(new Error('it has ended'))));
    for (const one of members) await all.add(async () => one);
    expect(await all.seen()).toEqual(at(7));
    const newest = members[2];
    if (newest !== undefined) all.remove(newest);
    expect(await all.seen()).toEqual(at(7));
    await all.add(async () => member(async () => at(8)));
    expect(await all.seen()).toEqual(at(8));
  });
});
