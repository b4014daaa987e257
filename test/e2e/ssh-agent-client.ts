import { connect, type Socket } from 'node:net';

/** The agent protocol of SSH as a client speaks it, written down once more from its specification. */

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export const sshString = (value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([u32(bytes.length), bytes]);
};

export const FAILURE = 5;
export const SUCCESS = 6;
export const IDENTITIES = 12;
export const SIGNATURE = 14;
export const EXTENSION_FAILURE = 28;

/** Strings one after the other, up to the end. */
export function stringsOf(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    found.push(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return found;
}

/** What ssh has signed to log in (RFC 4252, section 7). */
export const login = (blob: Buffer, session = 'a session', user = 'root'): Buffer =>
  Buffer.concat([
    sshString(session),
    Buffer.from([50]),
    ...[user, 'ssh-connection', 'publickey'].map(sshString),
    Buffer.from([1]),
    sshString('ssh-ed25519'),
    sshString(blob),
  ]);

export interface ListedKey {
  readonly blob: Buffer;
  readonly comment: string;
}

export class SshAgentClient {
  readonly #socket: Socket;
  #come = Buffer.alloc(0);
  #waiting: ((message: Buffer | undefined) => void)[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => {
      this.#come = Buffer.concat([this.#come, bytes]);
      this.#deliver();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const waiting of this.#waiting.splice(0)) waiting(undefined);
    });
  }

  static async connect(path: string): Promise<SshAgentClient> {
    const socket = connect(path);
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new SshAgentClient(socket);
  }

  /** Sends bytes as they are. */
  raw(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** The next answer; undefined when the connection ends. */
  answer(): Promise<Buffer | undefined> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#deliver();
      if (this.#socket.destroyed) this.#waiting.splice(0).map((waiting) => waiting(undefined));
    });
  }

  /** Sends a message, and waits for the answer: its type and what follows. */
  async ask(type: number, ...parts: readonly Buffer[]): Promise<{ type: number; rest: Buffer }> {
    const body = Buffer.concat([Buffer.from([type]), ...parts]);
    this.raw(Buffer.concat([u32(body.length), body]));
    const answer = await this.answer();
    return { type: answer?.[0] ?? -1, rest: answer?.subarray(1) ?? Buffer.alloc(0) };
  }

  async list(): Promise<readonly ListedKey[]> {
    const { type, rest } = await this.ask(11);
    if (type !== IDENTITIES) throw new Error(`the list was answered with ${type}`);
    const strings = stringsOf(rest.subarray(4));
    return Array.from({ length: rest.readUInt32BE(0) }, (_, index) => ({
      blob: strings[2 * index] ?? Buffer.alloc(0),
      comment: String(strings[2 * index + 1]),
    }));
  }

  /** @returns the name of the algorithm and the bytes of the signature; undefined for a refusal. */
  async sign(
    blob: Buffer,
    data: Buffer,
    flags = 0,
  ): Promise<{ readonly algorithm: string; readonly bytes: Buffer } | undefined> {
    const { type, rest } = await this.ask(13, sshString(blob), sshString(data), u32(flags));
    if (type === FAILURE) return undefined;
    if (type !== SIGNATURE) throw new Error(`a signature was answered with ${type}`);
    const [algorithm, bytes = Buffer.alloc(0)] = stringsOf(rest.subarray(4));
    return { algorithm: String(algorithm), bytes };
  }

  close(): void {
    this.#socket.destroy();
  }

  #deliver(): void {
    while (this.#waiting.length > 0 && this.#come.length >= 4) {
      const end = 4 + this.#come.readUInt32BE();
      if (this.#come.length < end) return;
      this.#waiting.shift()?.(this.#come.subarray(4, end));
      this.#come = this.#come.subarray(end);
    }
  }
}
