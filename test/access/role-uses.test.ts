import { expect, it } from 'vitest';
import { openRoom, tokenRequest } from './room.ts';

it.each([
  [3, 5, 3],
  [5, 3, 3],
  [4, 4, 4],
  [0, 3, 3],
  [4, 0, 4],
  [0, 0, undefined],
])(
  'a token that asks for %i uses of a role that gives %i has the fewer of both',
  async (asked, given, uses) => {
    const { access } = await openRoom();
    await access.roles.write('r', { token_num_uses: given });
    const create = (wanted: object) =>
      access.tokens.create(tokenRequest({ role: 'r', numUses: asked, ...wanted }), { sudo: true });
    expect((await create({})).token.usesLeft).toBe(uses);
    expect((await create({})).token.renewable).toBe(true);
    expect((await create({ renewable: false })).token.renewable).toBe(false);
    await access.roles.write('r', { renewable: false });
    expect((await create({})).token.renewable).toBe(false);
  },
);
