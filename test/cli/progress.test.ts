import { describe, expect, it } from 'vitest';
import { sizeText, transferText } from '../../src/cli/terminal/progress.ts';

const MEBI = 2 ** 20;
const GIBI = 2 ** 30;

describe('the progress of a transfer', () => {
  it.each([
    [
      'half of it',
      GIBI,
      2 * GIBI,
      2,
      '[############------------]  50 %  1.0 GiB of 2.0 GiB  512.0 MiB/s  2 s left',
    ],
    ['nothing yet', 0, MEBI, 1, '[------------------------]   0 %  0 bytes of 1.0 MiB  0 bytes/s'],
    ['all of nothing', 0, 0, 1, '[########################] 100 %  0 bytes of 0 bytes  0 bytes/s'],
    [
      'more than there was',
      3 * MEBI,
      2 * MEBI,
      1,
      '[########################] 100 %  3.0 MiB of 2.0 MiB  3.0 MiB/s  0 s left',
    ],
    [
      'minutes',
      MEBI,
      126 * MEBI,
      1,
      '[------------------------]   0 %  1.0 MiB of 126.0 MiB  1.0 MiB/s  2 min 5 s left',
    ],
    [
      'hours',
      MEBI,
      3781 * MEBI,
      1,
      '[------------------------]   0 %  1.0 MiB of 3.7 GiB  1.0 MiB/s  1 h 3 min left',
    ],
    ['an unknown length', 5 * MEBI, undefined, 2, '5.0 MiB  2.5 MiB/s'],
  ])('tells of %s', (_, bytes, total, seconds, text) => {
    expect(transferText(bytes, total, seconds)).toBe(text);
  });

  it.each([
    [80, '[############------------]  50 %  1.0 GiB of 2.0 GiB  512.0 MiB/s  2 s left'],
    [59, '[############------------]  50 %  512.0 MiB/s  2 s left'],
    [45, '[############------------]  50 %  2 s left'],
    [34, '[############------------]  50 %'],
  ])('leaves out whole parts in %i columns, and cuts no number', (columns, text) => {
    expect(transferText(GIBI, 2 * GIBI, 2, columns)).toBe(text);
  });

  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1023, '1023 bytes'],
    [1024, '1.0 KiB'],
    [1.5 * GIBI, '1.5 GiB'],
    [2 ** 50, '1024.0 TiB'],
  ])('writes a size of %i as %s', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});
