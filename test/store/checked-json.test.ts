import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChecked, printChecked } from '../../src/store/checked-json.ts';

describe('JSON with its own checksum', () => {
  it('is one line that anybody can check with a SHA-256 tool', () => {
    const text = printChecked({ a: 1, b: 'é' }).toString();
    const sum = createHash('sha256').update('{"a":1,"b":"é"}').digest('hex');
    expect(text).toBe(`{"checksum":"${sum}","a":1,"b":"é"}\n`);
  });

  it('comes back as it was', () => {
    const bodies = fc
      .dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 })
      .filter((d) => !('checksum' in d));
    fc.assert(
      fc.property(bodies, (body) => {
        expect(parseChecked(printChecked(body))).toEqual(JSON.parse(JSON.stringify(body)));
      }),
    );
  });

  it('is refused with any bit flipped, any byte missing, and anything appended', () => {
    const intact = printChecked({ text: 'é\u{1F512}', list: [1, 2] });
    for (let bit = 0; bit < intact.length * 8; bit++) {
      const flipped = Buffer.from(intact);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(parseChecked(flipped)).toBeUndefined();
    }
    for (let length = 0; length < intact.length; length++) {
      expect(parseChecked(intact.subarray(0, length))).toBeUndefined();
    }
    for (const more of [' ', '\n', '\0']) {
      expect(parseChecked(Buffer.concat([intact, Buffer.from(more)]))).toBeUndefined();
    }
  });

  it.each(['{nothing', '{"a":1}}', '{"a":1', '{'])(
    'is refused when its sum is right, and %s no JSON',
    (body) => {
      const sum = createHash('sha256').update(body).digest('hex');
      expect(parseChecked(Buffer.from(`{"checksum":"${sum}",${body.slice(1)}\n`))).toBeUndefined();
    },
  );
});
