/** Formats 16 bytes as a random (version 4) UUID, RFC 9562. */
export function uuidFrom(bytes: Uint8Array): string {
  const copy = Buffer.from(bytes);
  copy.writeUInt8((copy.readUInt8(6) & 0x0f) | 0x40, 6);
  copy.writeUInt8((copy.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = copy.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
