import { Duplex, PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Conversation } from '../../../../src/transit/envelope/age/conversation.ts';
import { refused } from '../../../refusal.ts';

const MOST_LINE = 16 * 1024;
const MOST = 8 * 2 ** 20;

/** A conversation of which the pieces come one by one. */
const talk = (...pieces: (string | Buffer)[]): Conversation =>
  new Conversation(Duplex.from(pieces.map((piece) => Buffer.from(piece))));

describe('a conversation between age and a plugin', () => {
  it('has lines of at most 16 KiB, and does not wait for the end of a longer one', async () => {
    const line = 'x'.repeat(MOST_LINE);
    expect(await talk(line, '\nmore').line()).toBe(line);
    for (const pieces of [[`${line}y\n`], [`${line}y`]])
      expect(await refused(talk(...pieces).line())).toMatchObject({
        kind: 'invalid',
        message: 'a line is too long',
      });
  });

  it('has at most 8 MiB', async () => {
    const lines = Buffer.alloc(MOST, `${'x'.repeat(MOST_LINE - 1)}\n`);
    const whole = talk(lines);
    for (let count = 0; count < MOST / MOST_LINE; count++) await whole.line();
    expect(await refused(talk(Buffer.concat([lines, Buffer.of(10)])).line())).toMatchObject({
      kind: 'invalid',
      message: 'missing end of message',
    });
  });

  it('is over when the other end has gone, except for what it had said', async () => {
    const connection = new PassThrough({ autoDestroy: false });
    const conversation = new Conversation(connection);
    await conversation.stillThere();
    connection.write('one\ntwo\n');
    connection.end();
    expect(await conversation.line()).toBe('one');
    await conversation.stillThere();
    expect(await conversation.line()).toBe('two');
    expect(await refused(conversation.stillThere())).toMatchObject({
      kind: 'invalid',
      message: 'unexpected end of input',
    });
    const cut = new PassThrough();
    const broken = new Conversation(cut);
    cut.destroy();
    expect(await refused(broken.stillThere())).toMatchObject({ message: 'unexpected end of input' });
  });
});
