import { createPublicKey, sign } from 'node:crypto';
import { openSshDoor } from '../../../src/doors/agent/ssh/ssh-door.ts';
import { sshBlob } from '../../../src/signatures/ssh-key.ts';
import { parseWireSignature, verifyWireSignature } from '../../../src/signatures/ssh-signature.ts';
import { SshReader, string, uint32 } from '../../../src/signatures/ssh-wire.ts';
import type { Chance } from '../../chance.ts';
import { Connected } from '../../doors/agent/connected.ts';
import { deskDouble, doubleKeys, publicText } from '../../doors/agent/desk.double.ts';
import { certificateOf } from '../../doors/agent/ssh-certificate.ts';
import { shorterBytes, spoiledBytes } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';

/** Messages to the agent of ssh, one connection for each case. */

const keys = doubleKeys.map((double) => createPublicKey(publicText(double)));
const blobs = keys.map(sshBlob);

const message = (type: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat([Buffer.from([type]), ...parts]);
  return Buffer.concat([uint32(body.length), body]);
};

const login = (blob: Buffer): Buffer =>
  Buffer.concat([
    string('session'),
    Buffer.from([50]),
    ...['root', 'ssh-connection', 'publickey'].map(string),
    Buffer.from([1]),
    string('x'),
    string(blob),
  ]);

const signed = (namespace: string): Buffer =>
  Buffer.concat([
    Buffer.from('SSHSIG'),
    ...[namespace, '', 'sha512'].map(string),
    string(Buffer.alloc(64, 1)),
  ]);

const [host] = doubleKeys;
if (host === undefined) throw new Error('there are no keys');
const binding = (forwarding: number, of = blobs[0] ?? Buffer.alloc(0)): Buffer =>
  message(
    27,
    string('session-bind@openssh.com'),
    string(of),
    string('session'),
    string(Buffer.concat([string('ssh-ed25519'), string(sign(null, Buffer.from('session'), host.key))])),
    Buffer.from([forwarding]),
  );

const messages: readonly Buffer[] = [
  message(11),
  ...blobs.flatMap((blob) =>
    [login(blob), login(certificateOf(blob, 1)), signed('git')].flatMap((data) =>
      [0, 2, 4].map((flags) => message(13, string(blob), string(data), uint32(flags))),
    ),
  ),
  binding(0),
  binding(1),
  binding(0, certificateOf(blobs[0] ?? Buffer.alloc(4), 2)),
  message(27, string('query')),
  ...[17, 18, 19, 20, 21, 25, 26, 1, 9].map((type) => message(type, string('x'))),
];

const PERMITTED: ReadonlySet<number> = new Set([5, 6, 12, 14, 28, 29]);

async function open(_: Chance, secrets: Secrets): Promise<World<Buffer>> {
  for (const { name, key } of doubleKeys) secrets.add(name, key.export({ type: 'pkcs8', format: 'der' }));
  return {
    generate(chance) {
      const whole = Buffer.concat(Array.from({ length: 1 + chance.below(4) }, () => chance.pick(messages)));
      return chance.oneIn(5) ? whole : spoiledBytes(chance, whole, messages);
    },
    async check(bytes) {
      const desk = deskDouble(['login', 'sign']);
      const cut = bytes.length >> 1;
      const connected = new Connected(openSshDoor(desk));
      const answers = await connected.send(bytes.subarray(0, cut), bytes.subarray(cut));
      if (desk.defects.length > 0) throw desk.defects[0];
      secrets.examine(answers.toString('latin1'), 'an answer');
      checkAnswers(answers, bytes);
    },
    print: (bytes) => bytes.toString('base64'),
    simpler: shorterBytes,
    close: () => undefined,
  };
}

function checkAnswers(answers: Buffer, sent: Buffer): void {
  const reader = new SshReader(answers, 'the answers');
  for (let left = answers.length; left > 0; ) {
    const answer = reader.string();
    left -= 4 + answer.length;
    const type = answer[0] ?? -1;
    if (!PERMITTED.has(type)) throw new Defect(`an answer of the type ${type}`);
    if (type === 14) checkSignature(new SshReader(answer.subarray(1), 'a signature').string(), sent);
  }
}

/** Everything that is signed was sent whole, and is a log-in or a file. */
function checkSignature(blob: Buffer, sent: Buffer): void {
  const signature = parseWireSignature(blob);
  const isOf = (data: Buffer): boolean =>
    keys.some((key) => {
      try {
        return verifyWireSignature(key, signature, data);
      } catch {
        return false;
      }
    });
  for (let at = 0; at < sent.length; at++) {
    const isStart =
      sent.subarray(at, at + 6).toString('latin1') === 'SSHSIG' ||
      sent[at + 4 + sessionLength(sent, at)] === 50;
    const length = at >= 4 ? sent.readUInt32BE(at - 4) : 0;
    if (isStart && length > 0 && at + length <= sent.length && isOf(sent.subarray(at, at + length))) return;
  }
  throw new Defect('something was signed that is neither a log-in nor a file');
}

const sessionLength = (sent: Buffer, at: number): number =>
  at + 4 <= sent.length ? sent.readUInt32BE(at) : sent.length;

export const sshAgent = target<Buffer>({ name: 'ssh-agent', cases: 4_000, open });
