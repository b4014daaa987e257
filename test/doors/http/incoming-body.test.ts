import { expect, it } from 'vitest';
import { heldBody } from '../../../src/doors/http/incoming-body.ts';

it.each([
  ['no body', undefined, 0],
  ['a body of four bytes', Buffer.from('four'), 4],
])('%s in memory is taken up to the limit, and not one byte more', async (_, bytes, length) => {
  const body = heldBody(bytes);
  expect([body.exceeds(length), body.exceeds(length - 1)]).toEqual([false, true]);
  expect(await body.read(length)).toBe(bytes);
  await expect(body.read(length - 1)).rejects.toThrow('request body too large');
  expect(await body.read()).toBe(bytes);
});
