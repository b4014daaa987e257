import { Acl } from '../../../src/access/acl.ts';
import type { Capability } from '../../../src/access/capability.ts';
import { parsePolicy } from '../../../src/access/policy.ts';
import type { Chance } from '../../chance.ts';
import { anyText, shorterTexts, spoiledText, swollenText } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';
import { anyValue, printValue, spoiledDeeply } from '../values.ts';

/** A policy, and a request that it is asked about. */
interface Question {
  readonly text: string;
  readonly path: string;
  readonly capability: Capability;
  readonly parameters: Readonly<Record<string, unknown>> | undefined;
}

const hclPolicies: readonly string[] = [
  'path "transit/encrypt/orders" { capabilities = ["update", "create"] }\npath "transit/+/orders*" { capabilities = ["read"] }',
  'name = "x" # one\n// two\n/* three */ path "a/*" { policy = "write" }\npath "a/b" { capabilities = ["deny"] }',
  'path "secret/+/+/x" { capabilities = ["list",], allowed_parameters = { "type" = ["aes*", 1, true], "*" = [] } }',
  'path "b" { capabilities = ["update"] denied_parameters { "name" = ["\\u00e4", "\\x41"] } required_parameters = ["c"] }',
  'path = { "e" = { capabilities = ["delete"], min_wrapping_ttl = "90s", max_wrapping_ttl = 1.5 } }',
  '"path" "sys/mounts" { "capabilities" = ["sudo", "read"], comment = "it\'s \\"quoted\\"" }',
  'path "+/+" { capabilities = ["scan", "patch"] }\npath "organizations/{{identity}}/tags" { capabilities = ["list"] }',
];
const jsonPolicies: readonly unknown[] = [
  { path: { 'a/*': { capabilities: ['read', 'deny'] }, b: { policy: 'sudo' } } },
  { name: 'x', path: [{ 'a/+/c': { capabilities: ['update'], denied_parameters: { type: ['rsa-*'] } } }] },
  {
    path: {
      b: [
        {
          capabilities: ['list'],
          allowed_parameters: { n: [1, [2, '*'], null] },
          required_parameters: ['n'],
        },
      ],
    },
  },
];
const paths = [
  'transit/encrypt/orders',
  'transit/keys/orders2',
  'a/b',
  'a/',
  'secret/1/2/x',
  'b',
  'sys/mounts',
  '',
  '/',
  'e',
];
const names = ['type', 'name', 'n', 'c', '__proto__', 'constructor', 'NAME'];
const capabilities: readonly Capability[] = ['create', 'read', 'update', 'delete', 'list', 'sudo'];
/** Of a path, in characters: written into a rule, with everything escaped, it still is shorter than the longest policy. */
const LONGEST_PATH = 100_000;
/** One case in so many is a long one. */
const LONG_ONE_IN = 2_000;
const MAX_MESSAGE = 400;

function generate(chance: Chance): Question {
  return {
    text: policyText(chance),
    path: chance.oneIn(3)
      ? spoiledText(chance, chance.pick(paths), paths).slice(0, LONGEST_PATH)
      : chance.pick(paths),
    capability: chance.pick(capabilities),
    parameters: chance.oneIn(3)
      ? undefined
      : Object.fromEntries(
          Array.from({ length: chance.size(4) }, () => [
            chance.oneIn(4) ? anyText(chance) : chance.pick(names),
            anyValue(chance, 2),
          ]),
        ),
  };
}

function policyText(chance: Chance): string {
  const hcl = chance.pick(hclPolicies);
  if (chance.oneIn(LONG_ONE_IN)) return swollenText(chance, hcl, 1 + chance.below(1_200_000));
  if (chance.oneIn(3)) return printValue(spoiledDeeply(chance, chance.pick(jsonPolicies)));
  return spoiledText(chance, hcl, hclPolicies);
}

async function open(_chance: Chance, secrets: Secrets): Promise<World<Question>> {
  return {
    generate,
    check(question) {
      const outcome = secrets.outcomeNow(() => parsePolicy(question.text));
      if ('refused' in outcome) {
        const { kind, message } = outcome.refused;
        if (kind !== 'invalid' || !message.startsWith('failed to parse policy: ')) throw outcome.refused;
        if (message.length > MAX_MESSAGE) throw new Defect(`a refusal of ${message.length} characters`);
        return;
      }
      checkAnswers(outcome.value.rules, question);
    },
    print: (question) => printValue(question),
    *simpler(question) {
      for (const text of shorterTexts(question.text)) yield { ...question, text };
    },
    close: () => undefined,
  };
}

type Rules = ReturnType<typeof parsePolicy>['rules'];

function checkAnswers(rules: Rules, { path, capability, parameters }: Question): void {
  const acl = new Acl(rules);
  const allowed = acl.allows(path, capability, parameters);
  acl.capabilities(path);
  acl.reaches(`${path}/`);
  if (allowed !== acl.allows(path, capability, parameters))
    throw new Defect('a second answer differs from the first');
  if (allowed && rules.length === 0) throw new Defect('something is allowed by a policy without rules');
  if (allowed && !acl.allows(path, capability))
    throw new Defect('parameters allow what is not allowed without them');
  const bare = path.replace(/^\/+/, '');
  if (/[*+]|\{\{/.test(bare)) return;
  const refusing = parsePolicy(`path ${JSON.stringify(bare)} { capabilities = ["deny"] }`);
  const stricter = new Acl([...rules, ...refusing.rules]);
  if (capability !== 'list' && stricter.allows(path, capability, parameters)) {
    throw new Defect('a path is allowed that a rule refuses by its name');
  }
}

export const policies = target<Question>({ name: 'policies', cases: 120_000, open });
