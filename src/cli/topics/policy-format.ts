import { CAPABILITY_WORDS } from '../../access/capability.ts';
import type { Topic } from './topic.ts';

export const policyFormat: Topic = {
  name: 'policy-format',
  page: 'coffer-policy',
  summary: 'Path rules that say what tokens may do, in HCL or JSON',
  commands: ['policy', 'token', 'serve'],
  parts: [
    {
      heading: 'Rules',
      blocks: [
        {
          lines: [
            'path "transit/encrypt/orders" {',
            '  capabilities = ["update"]',
            '}',
            'path "transit/keys/*" {',
            '  capabilities = ["read", "list"]',
            '}',
            'path "api/v2/organizations/+/tags" {',
            '  capabilities = ["list"]',
            '}',
          ],
        },
        'As JSON:',
        {
          lines: ['{"path": {"transit/encrypt/orders":', '  {"capabilities": ["update"]}}}'],
        },
        `Capabilities are ${CAPABILITY_WORDS.join(', ')}. Everything not allowed is denied; "deny" ` +
          'takes precedence. A trailing "*" matches any suffix, "+" matches one segment. If several rules ' +
          'match, the most specific one applies.',
        'Encrypting with a key that does not exist creates the key. That requires create instead of update: allow both, if both may be done. Paths of tags and workspaces are those of the HTTP API, beginning with api/v2.',
      ],
    },
    {
      heading: 'Parameters and wrapping',
      blocks: [
        {
          terms: [
            [
              'allowed_parameters',
              'The parameters that a request may have, with their permitted values; all others are refused.',
            ],
            ['denied_parameters', 'Parameters, or values of them, that a request must not have.'],
            ['required_parameters', 'Parameters that every request must have.'],
            [
              'min_wrapping_ttl, max_wrapping_ttl',
              'Shortest and longest TTL that a response can be wrapped for. With either, requests that do not ask for a wrapped response are denied.',
            ],
          ],
        },
      ],
    },
  ],
};
