import { jsonItems } from '../../../src/cli/files/json-items.ts';
import { visible } from '../../../src/cli/terminal/visible.ts';
import { parseAddress as parseServerAddress } from '../../../src/client/http-transport.ts';
import { parseListenAddress } from '../../../src/doors/http/listen-address.ts';
import { parseForm, parseObject, parseQuery } from '../../../src/doors/http/request-body.ts';
import { decodeBase64, lendDecoded } from '../../../src/ground/base64.ts';
import { isMountPath } from '../../../src/mounts/paths.ts';
import { duration } from '../../../src/operations/declaration/duration.ts';
import { flag, integer, texts as textList } from '../../../src/operations/declaration/params.ts';
import { parseRoute, printPath } from '../../../src/operations/declaration/route.ts';
import { keysInText, shareIn } from '../../../src/service/unseal-keys.ts';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import { parseMasterKey, tryParseMasterKey } from '../../../src/store/master-key.ts';
import { parseShares } from '../../../src/store/slots/shares.ts';
import { parseIdentifier } from '../../../src/tags/names.ts';
import { readGoJson } from '../../../src/transit/backup/go-json.ts';
import type { Chance } from '../../chance.ts';
import { anyText, shorterTexts, spoiledText, swollenText } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';

/** A text for one of the parsers. */
interface Reading {
  readonly parser: string;
  readonly text: string;
}

interface Parser {
  /** Texts that are right. */
  readonly samples: readonly string[];
  read(text: string): unknown;
}

const JSON_SAMPLES = [
  '{"plaintext":"AAAA","n":9007199254740993,"l":[1,{"a":null}]}',
  '{"__proto__":{"x":1},"e":1e5}',
];
const route = parseRoute('POST keys/:name/trim');
const hours = duration({ help: '' });
const whole = integer({ help: '', minimum: 0, maximum: 10 });
const yes = flag({ help: '' });
const several = textList({ help: '' });

const PARSERS: Readonly<Record<string, Parser>> = {
  base64: { samples: ['aG9zdGlsZQ==', 'AA==\r\n', 'AAAA', 'A-_A'], read: readBase64 },
  'JSON body': { samples: JSON_SAMPLES, read: (text) => parseObject(Buffer.from(text)) },
  form: { samples: ['a=b&c=%20d&a=e', '__proto__=1'], read: (text) => parseForm(Buffer.from(text)) },
  query: { samples: ['page[number]=2&q=x&q=y', 'list=true'], read: parseQuery },
  'JSON of Go': {
    samples: JSON_SAMPLES,
    read: (text) => readGoJson(text, { depth: 16, values: 1_000, digits: 50 }),
  },
  'JSON items': { samples: ['{"a":1}\n{"b":2}\n', '[{"a":1},{"b":"]"}]', '\ufeff[1]'], read: readItems },
  duration: {
    samples: ['24h', '1h30m', '7d', '-1s', '1.5h', '300ms'],
    read: (text) => hours.parse(text, 'd'),
  },
  integer: { samples: ['1', '0x7', '0b1', '07', ' 3'], read: (text) => whole.parse(text, 'i') },
  flag: { samples: ['true', 'T', '0'], read: (text) => yes.parse(text, 'f') },
  list: { samples: ['a,b, c', ','], read: (text) => several.parse(text, 'l') },
  'listening address': {
    samples: [
      '127.0.0.1:8200',
      '[::1]:8200?max-request-size=100&unauthenticated-metrics-access=true',
      'unix:/run/x.sock',
    ],
    read: (text) => parseListenAddress(text, 1000),
  },
  'server address': { samples: ['http://a:1', 'https://[::1]:2/', 'unix:///x'], read: parseServerAddress },
  database: {
    samples: ['postgres://u:hidden-password@h:5432,g/d?schema=x&sslmode=require', 'postgresql://%2Frun/d'],
    read: (text) => (/^postgres/i.test(text) ? readDatabase(text) : undefined),
  },
  'master key': { samples: ['00'.repeat(32), Buffer.alloc(32, 5).toString('base64')], read: readMasterKey },
  shares: {
    samples: [`coffer-share.1.${'a'.repeat(16)}.1of3.need2.${'b'.repeat(66)}.00000000`],
    read: (text) => [shareIn(text), parseShares(text.split('\n'))],
  },
  identifier: {
    samples: ['tag-2PZ5RK9dGNuPzqgL', 'ws-2PZ5RK9dGNuPzqgL'],
    read: (text) => parseIdentifier('tag', text),
  },
  mount: { samples: ['transit', 'a/b', 'sys'], read: isMountPath },
  path: { samples: ['orders', 'a b'], read: (text) => printPath(route, () => text.toWellFormed()) },
  terminal: { samples: ['\x1b[2J', 'a\u202eb'], read: readVisible },
};
const names = Object.keys(PARSERS);
const LONG_ONE_IN = 1_500;

/** Where it takes a text, it must be what Node's decoder makes of it. */
function readBase64(text: string): void {
  const bytes = decodeBase64(text);
  if (!bytes.equals(Buffer.from(text, 'base64'))) throw new Defect('base64 was decoded to something else');
  const lent = lendDecoded(text, (borrowed) => Buffer.from(borrowed));
  if (!lent.equals(bytes)) throw new Defect('lent bytes are others than those given');
}

async function readItems(text: string): Promise<void> {
  async function* pieces(): AsyncGenerator<Buffer> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
    if (bytes.length > 10_000) return;
  }
  for await (const items of jsonItems(pieces())) if (!Array.isArray(items)) throw new Defect('no items');
}

function readDatabase(text: string): void {
  const { place, password } = parseAddress(text);
  if (password !== undefined && place.database.includes(`:${password}@`)) {
    throw new Defect('a location is printed with its password');
  }
  parseAddress(text, { user: 'someone', port: '5433' });
}

function readMasterKey(text: string): void {
  keysInText(text);
  if (tryParseMasterKey(text)?.length === 32) return;
  parseMasterKey(text);
}

function readVisible(text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x1f\x7f-\x9f\u202e]/.test(visible(text))) throw new Defect('a control character stays');
}

async function open(_chance: Chance, secrets: Secrets): Promise<World<Reading>> {
  return {
    generate(chance) {
      const parser = chance.pick(names);
      const samples = PARSERS[parser]?.samples ?? [''];
      const sample = chance.pick(samples);
      if (chance.oneIn(LONG_ONE_IN))
        return { parser, text: swollenText(chance, sample, chance.below(600_000)) };
      return { parser, text: chance.oneIn(10) ? anyText(chance) : spoiledText(chance, sample, samples) };
    },
    async check({ parser, text }) {
      await secrets.outcome(() => PARSERS[parser]?.read(text));
    },
    print: (reading) => JSON.stringify(reading),
    *simpler({ parser, text }) {
      for (const shorter of shorterTexts(text)) yield { parser, text: shorter };
    },
    close: () => undefined,
  };
}

export const texts = target<Reading>({ name: 'texts', cases: 120_000, open });
