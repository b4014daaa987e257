import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageLine } from '../../../src/cli/terminal/message.ts';
import { streamsDouble } from '../streams.double.ts';

const on = (columns: number) => streamsDouble({ terminals: ['err'], columns }).err;

describe('a message', () => {
  it('is wrapped at words on a terminal, and is one line in a pipe', () => {
    const text = 'coffer: warning: this passphrase is weak, and an attacker with the file can guess it';
    expect(messageLine(on(60), text)).toBe(
      'coffer: warning: this passphrase is weak, and an attacker\nwith the file can guess it\n',
    );
    expect(messageLine(on(200), text)).toBe(`${text}\n`);
    expect(messageLine(streamsDouble({ columns: 60 }).err, text)).toBe(`${text}\n`);
  });

  it('keeps a command in one line, so that it can be pasted', () => {
    expect(
      messageLine(
        on(40),
        'coffer: there is no key "order" (run "coffer transit keys list" to list the keys)',
      ),
    ).toBe('coffer: there is no key "order" (run\n"coffer transit keys list" to list the\nkeys)\n');
    const usage =
      'coffer: missing argument (usage: coffer store copy FROM TO, e.g. "coffer store copy ./a ./b")';
    expect(messageLine(on(60), usage)).toBe(
      'coffer: missing argument (usage: coffer store copy FROM TO,\ne.g. "coffer store copy ./a ./b")\n',
    );
    expect(messageLine(on(40), 'No keys yet. Create one: coffer transit keys create NAME')).toBe(
      'No keys yet. Create one:\ncoffer transit keys create NAME\n',
    );
    expect(
      messageLine(on(40), 'coffer: app.env:1: DB should be encrypted (coffer secrets encrypt FILE)'),
    ).toBe('coffer: app.env:1: DB should be\nencrypted (coffer secrets encrypt FILE)\n');
    // Broken, it would encrypt nothing.
    const base64 = 'coffer: base64 is expected, for example plaintext="$(printf %s hello | base64)"';
    expect(messageLine(on(50), base64)).toBe(
      'coffer: base64 is expected, for example\nplaintext="$(printf %s hello | base64)"\n',
    );
    const serving = 'Serving. In another terminal: export COFFER_ADDR=a COFFER_TOKEN=$(coffer token create)';
    expect(messageLine(on(40), serving)).toBe(
      'Serving. In another terminal:\nexport COFFER_ADDR=a COFFER_TOKEN=$(coffer token create)\n',
    );
  });

  it('keeps its words and their order, in lines that fit unless a single part does not', () => {
    const part = fc.oneof(
      fc.stringMatching(/^[a-z"():;.-]{1,50}$/),
      fc.constant('"coffer transit keys list --org acme"'),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), fc.integer({ min: 40, max: 120 }), (parts, columns) => {
        const text = parts.join(' ');
        const shown = messageLine(on(columns), text);
        expect(shown.replaceAll('\n', ' ').trimEnd()).toBe(text);
        for (const line of shown.trimEnd().split('\n')) {
          if (line.length > columns) expect(line).not.toMatch(/^[a-z():;.-]+ /);
        }
      }),
    );
  });
});
