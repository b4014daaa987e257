import { Duplex } from 'node:stream';
import { Conversation } from '../../src/transit/envelope/age/conversation.ts';
import type { Stanza } from '../../src/transit/envelope/age/header.ts';
import { sealedFor } from '../../src/transit/envelope/age/recipients.ts';
import { parseBech32 } from '../../src/transit/key-types/age/bech32.ts';
import { mlKemP256Kem, p256Kem } from '../../src/transit/key-types/age/tagged.ts';

/* Process of a plugin that opens what is encrypted to `age1tag1…` or `age1tagpq1…`, as plugins for hardware do. */

const conversation = new Conversation(Duplex.from({ readable: process.stdin, writable: process.stdout }));
const stanzas: Stanza[] = [];
let secret: Uint8Array = new Uint8Array();
for (;;) {
  const { type, args, body } = await conversation.next();
  if (type === 'done') break;
  if (type === 'add-identity') secret = parseBech32(args[0] ?? '').bytes;
  if (type === 'recipient-stanza') stanzas.push({ type: args[1] ?? '', args: args.slice(2), body });
}
for (const kem of [p256Kem, mlKemP256Kem]) {
  const bytes = kem.publicOf(secret);
  for (const sealed of sealedFor({ kem, bytes }, stanzas)) {
    const fileKey = kem.open(secret, bytes, sealed);
    if (fileKey !== undefined) await conversation.say('file-key', ['0'], fileKey);
  }
}
conversation.end();
