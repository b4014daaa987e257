import type { Offer } from '../../../access/doors.ts';
import { denied, invalid, unsupported } from '../../../ground/errors.ts';
import { trimSlashes } from '../../../ground/trim.ts';
import type { OpenDoor } from '../agent-door.ts';
import { type Desk, memberOf, offerCommand, plaintextIn } from '../desk.ts';
import { grpcServer, type Methods } from '../grpc/grpc.ts';
import { bytesIn, field, type ProtobufFields, parseFields, textIn } from '../grpc/protobuf.ts';

/*
 * Key service of sops (getsops/sops, keyservice.proto): a request has the key in field 1 and the data in field 2, a
 * response the data in field 1. Key type 5 is a Vault key: address, path of the engine, name. The address is ignored
 * here.
 */

const KEY = 1;
const DATA = 2;
const ANSWER = 1;
const VAULT_KEY = 5;
const ENGINE_PATH = 2;
const KEY_NAME = 3;

export const openSopsDoor: OpenDoor = (desk) => grpcServer(sopsMethods(desk), (error) => desk.defect(error));

export const sopsMethods = (desk: Desk): Methods => ({
  '/KeyService/Encrypt': (message, gone) => encrypt(desk, message, gone),
  '/KeyService/Decrypt': (message, gone) => decrypt(desk, message, gone),
});

async function encrypt(desk: Desk, message: Buffer, gone: AbortSignal): Promise<Buffer> {
  const { offer, data } = await asked(desk, message);
  await desk.consent(offer, 'encrypt a file', gone);
  const raw = { name: offer.key, plaintext: data.toString('base64') };
  const answer = await desk.run('transit encrypt', raw, offer.mount);
  return field(ANSWER, memberOf(answer, 'ciphertext'));
}

async function decrypt(desk: Desk, message: Buffer, gone: AbortSignal): Promise<Buffer> {
  const { offer, data } = await asked(desk, message);
  await desk.consent(offer, 'decrypt a file', gone);
  const raw = { name: offer.key, ciphertext: data.toString('utf8') };
  const answer = await desk.run('transit decrypt', raw, offer.mount);
  return field(ANSWER, plaintextIn(answer));
}

async function asked(desk: Desk, message: Buffer): Promise<{ readonly offer: Offer; readonly data: Buffer }> {
  const fields = parseFields(message);
  const named = nameIn(parseFields(bytesIn(fields, KEY)));
  const offers = await desk.offers();
  const offer = offers.find(({ mount, key }) => mount === named.mount && key === named.key);
  if (offer !== undefined) return { offer, data: bytesIn(fields, DATA) };
  throw denied(`${named.mount}/${named.key} is not offered to sops: run "${offerCommand('sops', named)}"`);
}

function nameIn(kinds: ProtobufFields): { readonly mount: string; readonly key: string } {
  if (!kinds.has(VAULT_KEY)) throw unsupported('only hc_vault keys are supported');
  const named = parseFields(bytesIn(kinds, VAULT_KEY));
  const [mount, key] = [trimSlashes(textIn(named, ENGINE_PATH)), textIn(named, KEY_NAME)];
  if (mount === '' || key === '') throw invalid('missing key name');
  return { mount, key };
}
