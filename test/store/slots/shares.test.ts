import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { parseShares, splitNewSecret } from '../../../src/store/slots/shares.ts';
import { thrownBy } from '../../reference/thrown.ts';

const SLOT = '0123456789abcdef';
const split = (count: number, threshold: number, slot = SLOT) =>
  splitNewSecret(slot, { count, threshold }, systemRandom);

/** One character of a text exchanged for another that could stand there. */
const mistype = (text: string, at: number): string => {
  const wrong = text[at] === '7' ? '8' : '7';
  return text.slice(0, at) + wrong + text.slice(at + 1);
};

describe('recovery shares', () => {
  it('say of which slot they are, which one each is, and how many are needed', async () => {
    const { shareTexts } = await split(5, 3);
    shareTexts.forEach((text, i) => {
      expect(text).toMatch(
        new RegExp(`^coffer-share\\.1\\.${SLOT}\\.${i + 1}of5\\.need3\\.[0-9a-f]{66}\\.[0-9a-f]{8}$`),
      );
    });
  });

  it('give the secret back from any that are enough, in any order', async () => {
    const { secret, shareTexts } = await split(5, 3);
    const expected = Buffer.from(secret.bytes);
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(shareTexts, { minLength: 3 }), async (chosen) => {
        const set = parseShares(chosen);
        expect(set.slotId).toBe(SLOT);
        expect((await set.combine()).bytes).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('may be typed in capitals and in pieces', async () => {
    const { secret, shareTexts } = await split(2, 2);
    const typed = shareTexts.map((text) => ` ${text.slice(0, 40)}\n  ${text.slice(40).toUpperCase()} `);
    expect((await parseShares(typed).combine()).bytes).toEqual(secret.bytes);
  });

  it('name the one with a typing error, wherever it is', async () => {
    const { shareTexts } = await split(3, 2);
    const [first = '', second = ''] = shareTexts;
    for (let at = 0; at < second.length; at++) {
      expect(thrownBy(() => parseShares([first, mistype(second, at)]))).toMatchObject({
        kind: 'invalid',
        message: 'recovery share 2 is mistyped',
      });
    }
    for (const wrong of ['', 'coffer-share', second.slice(0, -1), `${second}0`]) {
      expect(thrownBy(() => parseShares([first, wrong]))).toMatchObject({ kind: 'invalid' });
    }
  });

  it('must be of one slot', async () => {
    const { shareTexts } = await split(3, 2);
    const other = await split(3, 2, 'fedcba9876543210');
    const mixed = [shareTexts[0] ?? '', other.shareTexts[1] ?? ''];
    expect(thrownBy(() => parseShares(mixed))).toMatchObject({
      kind: 'invalid',
      message: 'recovery share 2 belongs to a different slot',
    });
    const again = await split(3, 3);
    for (const texts of [
      [shareTexts[0] ?? '', again.shareTexts[1] ?? ''],
      [again.shareTexts[0] ?? '', again.shareTexts[1] ?? '', shareTexts[2] ?? ''],
    ])
      expect(thrownBy(() => parseShares(texts))).toMatchObject({
        kind: 'invalid',
        message: `recovery share ${texts.length} belongs to a different slot`,
      });
  });

  it('must be enough different ones', async () => {
    const { shareTexts } = await split(3, 3);
    const [first = '', second = ''] = shareTexts;
    expect(thrownBy(() => parseShares([first, second, first]))).toMatchObject({
      kind: 'denied',
      message: '3 different recovery shares are needed, 2 given',
    });
    expect(thrownBy(() => parseShares([]))).toMatchObject({
      kind: 'denied',
      message: 'no recovery shares given',
    });
  });
});
