import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pemBlocks, printPem } from '../../src/ground/pem.ts';

const block = '-----BEGIN X-----\nAQID\n-----END X-----';
const known = { label: 'X', bytes: Buffer.from([1, 2, 3]) };

describe('blocks of PEM', () => {
  it.each([
    ['alone', block, 1, false],
    [
      'with the line ends of others, and blanks around',
      `  ${block.replaceAll('\n', '  \r\n\t')}\r\n\n`,
      1,
      false,
    ],
    ['behind words', `subject: x\n\n${block}`, 1, false],
    ['behind each other', `${block}\n${block}`, 2, false],
    ['in front of words', `${block}\nwords`, 1, true],
    ['behind one that does not end', `-----BEGIN X-----\nAQID\n${block}`, 1, false],
    ['behind one that ends as another', `-----BEGIN Y-----\nAQID\n-----END Z-----\n${block}`, 1, false],
    ['behind one that is no base64', `-----BEGIN X-----\n?\n-----END X-----\n${block}`, 1, false],
    ['in front of one that does not end', `${block}\n-----BEGIN X-----\nAQID`, 1, true],
  ])('are found %s', (_, text, count, junkAfter) => {
    expect(pemBlocks(text)).toEqual({ blocks: Array(count).fill(known), junkAfter });
  });

  it.each([
    ['', false],
    [' \n', false],
    ['AQID', true],
    ['-----BEGIN X-----AQID-----END X-----', true],
    ['-----END X-----', true],
  ])('are not in %j', (text, junkAfter) => {
    expect(pemBlocks(text)).toEqual({ blocks: [], junkAfter });
  });

  it('are read as they were printed', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[A-Z ]{0,9}[A-Z]$/),
        fc.uint8Array({ minLength: 1 }),
        (label, bytes) => {
          const text = printPem(label, Buffer.from(bytes).toString('base64'));
          expect(
            Math.max(
              ...text
                .split('\n')
                .slice(1, -1)
                .map((line) => line.length),
            ),
          ).toBeLessThanOrEqual(64);
          const { blocks } = pemBlocks(`${text}\n${text}`);
          expect(blocks).toEqual(Array(2).fill({ label, bytes: Buffer.from(bytes) }));
        },
      ),
    );
  });
});
