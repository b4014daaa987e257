import { nextPlace, RECORD_HEAD_BYTES } from './format.ts';
import { lengthOf, type ParsedRecord, parseList } from './records.ts';

/** Returns the bytes of the record that begins at an offset, as long as it says. */
export function recordAt(bytes: Buffer, at: number): Buffer | undefined {
  const length = lengthOf(bytes.subarray(at, at + RECORD_HEAD_BYTES));
  return length === undefined || at + length > bytes.length ? undefined : bytes.subarray(at, at + length);
}

/** Finds the next record whose head and list of blobs are intact. */
export function nextRecord(
  bytes: Buffer,
  from: number,
  bounds: { readonly generation: number; readonly from: number; readonly upTo: number },
): { readonly offset: number; readonly bytes: Buffer; readonly record: ParsedRecord } | undefined {
  for (let at = from; at + RECORD_HEAD_BYTES <= bytes.length; at = nextPlace(at + 1)) {
    if (bytes.readUInt32BE(at) === 0) continue;
    const own = recordAt(bytes, at);
    if (own === undefined || own.readUInt32BE(24) !== bounds.generation) continue;
    const record = parseList(own);
    if (record !== undefined && record.revision > bounds.from && record.revision <= bounds.upTo)
      return { offset: at, bytes: own, record };
  }
  return undefined;
}
