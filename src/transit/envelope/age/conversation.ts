import type { Duplex } from 'node:stream';
import { invalid } from '../../../ground/errors.ts';
import { turn } from '../../../ground/pause.ts';
import { printStanza, type Stanza, unpadded } from './header.ts';

/** Maximum length of a line in bytes: longer than any line of a header, and any name. */
const MOST_LINE_BYTES = 16 * 1024;
/** Maximum size of a conversation in bytes: a file's header, with space for many files at once. */
const MOST_BYTES = 8 * 2 ** 20;
const COLUMNS = 64;
const NEWLINE = 0x0a;

/** Assembles lines to stanzas, in the same form as in the header of a file. */
export class StanzaLines {
  #head: { readonly type: string; readonly args: readonly string[] } | undefined;
  #body = '';

  /**
   * Adds a line.
   * @returns the stanza that it completes
   * @throws `invalid` for a malformed line; `inauthentic` for a malformed body
   */
  add(line: string): Stanza | undefined {
    if (this.#head === undefined) {
      const words = line.split(' ');
      const [arrow, type, ...args] = words;
      const isWhole = arrow === '->' && words.every((word) => /^[\x21-\x7e]+$/.test(word));
      if (!isWhole || type === undefined) throw invalid('malformed stanza');
      this.#head = { type, args };
      return undefined;
    }
    if (line.length > COLUMNS) throw invalid('a line of a stanza is too long');
    this.#body += line;
    if (this.#body.length > MOST_LINE_BYTES) throw invalid('a stanza is too long');
    if (line.length === COLUMNS) return undefined;
    const stanza = { ...this.#head, body: unpadded(this.#body) };
    this.#head = undefined;
    this.#body = '';
    return stanza;
  }
}

/** Sequence of stanzas between age and its plugins. */
export class Conversation {
  readonly #connection: Duplex;
  readonly #stanzas = new StanzaLines();
  #held: Buffer = Buffer.alloc(0);
  #bytes = 0;
  readonly #come: AsyncIterator<Buffer>;

  constructor(connection: Duplex) {
    this.#connection = connection;
    this.#come = connection.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  }

  /**
   * Reads a line.
   * @throws `invalid` for a malformed one, and at the end
   */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf(NEWLINE);
      if (end > MOST_LINE_BYTES || (end === -1 && this.#held.length > MOST_LINE_BYTES)) {
        throw invalid('a line is too long');
      }
      if (end !== -1) {
        const line = this.#held.toString('latin1', 0, end);
        this.#held = this.#held.subarray(end + 1);
        return line;
      }
      const { value, done } = await this.#come.next();
      if (done) throw invalid('unexpected end of input');
      this.#bytes += value.length;
      if (this.#bytes > MOST_BYTES) throw invalid('missing end of message');
      this.#held = Buffer.concat([this.#held, value]);
    }
  }

  /**
   * Reads the next stanza.
   * @throws as `line`
   */
  async next(): Promise<Stanza> {
    for (;;) {
      const stanza = this.#stanzas.add(await this.line());
      if (stanza !== undefined) return stanza;
    }
  }

  /** Sends a stanza, and reads the response. */
  async say(type: string, args: readonly string[] = [], body: string | Uint8Array = ''): Promise<Stanza> {
    this.send(type, args, body);
    return this.next();
  }

  /**
   * Yields to other tasks, and checks that the peer still waits for the result.
   * @throws `invalid` if it does not
   */
  async stillThere(): Promise<void> {
    // The end of a connection is only reported to a pending read.
    this.#connection.read(0);
    await turn();
    const { destroyed, readableEnded } = this.#connection;
    // Messages that were found get an answer, so a plugin that has exited without another message is not waited for.
    if (destroyed || (readableEnded && this.#held.length === 0)) throw invalid('unexpected end of input');
  }

  /** Sends the last stanza, and closes the connection. */
  end(): void {
    this.send('done');
    this.#connection.end();
  }

  /** Sends a stanza that has no response, or whose response is read later. */
  send(type: string, args: readonly string[] = [], body: string | Uint8Array = ''): void {
    this.#connection.write(printStanza({ type, args, body: Buffer.from(body) }));
  }
}
