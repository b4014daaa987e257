import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonItems, MAX_ITEM_BYTES } from '../../src/cli/files/json-items.ts';

async function* inPieces(text: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function cut(text: string | Buffer, size = 7): Promise<string[]> {
  const found: string[] = [];
  for await (const items of jsonItems(inPieces(text, size))) {
    found.push(
      ...items.map((item) => ('bytes' in item ? item.bytes.toString().trim() : `! ${item.problem}`)),
    );
  }
  return found;
}

describe('jsonItems', () => {
  it.each([
    ['nothing', '', []],
    ['blank lines alone', '\n \n\r\n', []],
    ['one line without a newline', '{"a":1}', ['{"a":1}']],
    ['lines, some of them blank', '\n{"a":1}\n\n{"b":2}\r\n', ['{"a":1}', '{"b":2}']],
    ['a byte order mark before the first line', '\ufeff{"a":1}\n{"b":2}', ['{"a":1}', '{"b":2}']],
    ['an empty array', ' [ ] ', []],
    ['an array on one line', '[{"a":1},{"b":[1,{"c":2}]}]', ['{"a":1}', '{"b":[1,{"c":2}]}']],
    ['an array over many lines', '[\n  {"a": 1},\n  {"b": 2}\n]\n', ['{"a": 1}', '{"b": 2}']],
    ['brackets and commas in texts', '[{"a":"],["},{"b":"\\"]"}]', ['{"a":"],["}', '{"b":"\\"]"}']],
    ['lines that are no JSON', 'x\n{"a":1}\n', ['x', '{"a":1}']],
    ['an item missing between two commas', '[1,,2]', ['1', '', '2']],
    ['an array that is cut off', '[{"a":1},{"b"', ['{"a":1}', '{"b"', '! the JSON array is truncated']],
    ['text after the array', '[1] 2', ['1', '! unexpected data after the JSON array']],
  ])('finds the items in %s', async (_, text, expected) => {
    for (const size of [1, 2, 3, 1000]) expect(await cut(text, size)).toEqual(expected);
  });

  it('gives back the items of any list, as lines or as an array, however the input is cut', async () => {
    const items = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(items, fc.integer({ min: 1, max: 40 }), async (list, size) => {
        const lines = list.map((item) => JSON.stringify(item));
        expect(await cut(lines.join('\n'), size)).toEqual(lines);
        expect(await cut(`[${lines.join(',')}]`, size)).toEqual(lines);
        const parsed = (await cut(JSON.stringify(list, undefined, 2), size)).map((text) => JSON.parse(text));
        expect(parsed).toEqual(JSON.parse(JSON.stringify(list)));
      }),
      { numRuns: 60 },
    );
  });

  it('takes an item of the largest size', async () => {
    const sizes: unknown[] = [];
    for await (const items of jsonItems(inPieces(Buffer.alloc(MAX_ITEM_BYTES, '1'), 1 << 20)))
      sizes.push(...items.map((item) => ('bytes' in item ? item.bytes.length : item.problem)));
    expect(sizes).toEqual([MAX_ITEM_BYTES]);
  });

  it('lets one item that is too large fail, and goes on with the next', async () => {
    const large = Buffer.alloc(MAX_ITEM_BYTES + 1, 'x');
    const text = Buffer.concat([Buffer.from('{"a":1}\n'), large, Buffer.from('\n{"b":2}\n')]);
    expect(await cut(text, 1 << 20)).toEqual(['{"a":1}', '! the item is larger than 32 MiB', '{"b":2}']);
  });
});
