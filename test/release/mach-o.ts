/** What the head of a program for macOS says: `<mach-o/loader.h>`. */
const MAGIC_64 = 0xfeedfacf;
const HEADER_BYTES = 32;
const SEGMENT_64 = 0x19;
const CODE_SIGNATURE = 0x1d;
const CPU_TYPES: Readonly<Record<number, string>> = { 16777223: 'x64', 16777228: 'arm64' };

export interface MachO {
  readonly arch: string | undefined;
  readonly segments: readonly string[];
  /** Where its signature lies in the file. */
  readonly signature: { readonly at: number; readonly bytes: number } | undefined;
}

/** @throws when it is no program of 64 bits. */
export function readMachO(file: Buffer): MachO {
  if (file.readUInt32LE(0) !== MAGIC_64) throw new Error('no Mach-O file of 64 bits');
  const segments: string[] = [];
  let signature: MachO['signature'];
  let at = HEADER_BYTES;
  for (let left = file.readUInt32LE(16); left > 0; left--) {
    const command = file.readUInt32LE(at);
    if (command === SEGMENT_64) segments.push(file.toString('latin1', at + 8, at + 24).replace(/\0+$/, ''));
    if (command === CODE_SIGNATURE) {
      signature = { at: file.readUInt32LE(at + 8), bytes: file.readUInt32LE(at + 12) };
    }
    at += file.readUInt32LE(at + 4);
  }
  return { arch: CPU_TYPES[file.readUInt32LE(4)], segments, signature };
}
