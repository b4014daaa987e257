import { CAPABILITY_WORDS } from '../../access/capability.ts';
import type { Topic } from './topic.ts';

export const policyFormat: Topic = {
  name: 'policy-format',
  page: 'coffer-policy',
  summary: 'What tokens may do: rules of paths, in HCL or JSON',
  commands: ['policy', 'token', 'serve'],
  parts: [
    {
      heading: 'Rules',
      blocks: [
        {
          lines: [
            'path "transit/encrypt/orders" { capabilities = ["update"] }',
            'path "transit/keys/*"         { capabilities = ["read", "list"] }',
            'path "api/v2/organizations/acme/workspaces/+/relationships/tags" {',
            '  capabilities = ["list", "update"]',
            '}',
          ],
        },
        'The same as JSON:',
        { lines: ['{"path": {"transit/encrypt/orders": {"capabilities": ["update"]}}}'] },
        `Capabilities are ${CAPABILITY_WORDS.join(', ')}. What no rule allows is denied, and "deny" wins. "*" at the end of a path stands for whatever follows, ` +
          '"+" for one part. Of several rules that match a path the most specific one holds.',
        'To encrypt with a key that is not there yet needs create; with update alone it is refused. Paths of tags and workspaces are those of the HTTP API, from api/v2 on.',
      ],
    },
    {
      heading: 'Parameters and wrapping',
      blocks: [
        {
          terms: [
            [
              'allowed_parameters, denied_parameters, required_parameters',
              'Which parameters a request may, must not and must have.',
            ],
            [
              'min_wrapping_ttl, max_wrapping_ttl',
              'The answer has to be wrapped, for no shorter and no longer.',
            ],
          ],
        },
      ],
    },
  ],
};
