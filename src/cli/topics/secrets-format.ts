import type { Topic } from './topic.ts';

export const secretsFormat: Topic = {
  name: 'secrets-format',
  page: 'coffer-secrets',
  summary: 'Encrypted values in .env, YAML and JSON files, and the rules for them',
  commands: ['secrets', 'edit', 'exec'],
  parts: [
    {
      heading: 'Values',
      blocks: [
        { lines: ['coffer:KEY:vN:BASE64', 'coffer:MOUNT/KEY:vN:BASE64'] },
        'Names, comments, order and layout of a file stay as they are; each value is encrypted by itself, as it is written, with its quotes. KEY is the ' +
          'named key, MOUNT its mount where that is not "transit", vN the version of the key. What follows is what a ciphertext of transit has there.',
        "The place of a value in its file is its associated data, and its context where keys are derived: the value's keys and list indexes with dots " +
          'between, as in "db.password" and "servers.0.key". A dot, "#" or backslash in a key stands behind a backslash; the second document of a YAML ' +
          'file begins with "2#". So a value opens under its own name alone. The name of the file is not part of it.',
        'Names, comments and the length of a value can be read by everybody. There is no checksum over the file: git merges values.',
      ],
    },
    {
      heading: 'Rules',
      blocks: [
        '.coffer.yaml is looked for in the directory of a file and in those above it, up to the top of the repository. The first rule that matches a file holds.',
        {
          lines: [
            'rules:',
            '  - files: ["*.env", config/prod/*.yaml]',
            '    key: app',
            '  - files: "deploy/**/*.json"',
            '    key: deploy',
            '    mount: team/a',
            '    only: [password, "tls.*"]',
            '    except: tls.certificate',
          ],
        },
        {
          terms: [
            ['files', 'Patterns of files, one text or a list.'],
            ['key', 'The key to encrypt with.'],
            ['mount', 'Its mount; "transit" unless said.'],
            ['only', 'Patterns of the values that are meant; every value unless said.'],
            ['except', 'Patterns of values that are not meant.'],
            ['format', 'dotenv, yaml or json, where the name of the file does not tell.'],
          ],
        },
        'Patterns are read as in .gitignore: one part alone means that part at any depth, several parts are counted from the top, and what matches covers all ' +
          'below it. Parts are separated by "/" in files, by dots in only and except. "*" stands for any characters of a part, "?" for one, "**" for any number of parts.',
      ],
    },
    {
      heading: 'What is read',
      blocks: [
        {
          terms: [
            [
              '.env',
              '"export" may stand before a name. Single quotes and backquotes are literal; in double quotes \\n, \\r, \\t, \\", \\\\ and \\$ are expanded. Without ' +
                'quotes a value goes to the end of its line, or to a "#" behind a blank. Nothing is expanded or run.',
            ],
            ['YAML', 'Version 1.2. A key that comes twice is refused.'],
            [
              'JSON',
              'As RFC 8259 has it, without comments and trailing commas. A key that comes twice is refused.',
            ],
          ],
        },
        'All are UTF-8, with at most 1 MiB and 200 levels. A file with the markers of a merge conflict is refused.',
      ],
    },
  ],
};
