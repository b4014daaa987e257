import type { Topic } from './topic.ts';

export const secretsFormat: Topic = {
  name: 'secrets-format',
  page: 'coffer-secrets',
  summary: 'Format of encrypted values in .env, YAML and JSON files, and of .coffer.yaml',
  commands: ['secrets', 'edit', 'exec'],
  parts: [
    {
      heading: 'Values',
      blocks: [
        { lines: ['coffer:KEY:vN:BASE64', 'coffer:MOUNT/KEY:vN:BASE64'] },
        'Names, comments, order and layout are kept. Each value is encrypted separately, including its ' +
          'quotes. KEY is the named key, MOUNT its mount if that is not "transit", vN the version of the ' +
          'key. The rest is the same as in a transit ciphertext.',
        'The path of a value is its associated data (and its context, for derived keys): names and list ' +
          'indexes joined by dots, e.g. "db.password", "servers.0.key". In names, dots, "#" and ' +
          'backslashes are escaped with a backslash; paths in the second YAML document start with "2#". A ' +
          'value can therefore only be decrypted under its own name. The file name is not part of the ' +
          'path.',
        'Names, comments and the length of a value are not secret. Files have no checksum, so that git can merge values.',
      ],
    },
    {
      heading: 'Rules',
      blocks: [
        ".coffer.yaml is searched in the file's directory and its parents, up to the root of the repository. The first matching rule applies.",
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
            ['files', 'Files the rule applies to: a pattern or a list of patterns.'],
            ['key', 'Key to encrypt with.'],
            ['mount', 'Mount of the key. Default: transit.'],
            ['only', 'Values to encrypt (patterns). Default: all.'],
            ['except', 'Values to leave in plaintext (patterns).'],
            ['format', 'dotenv, yaml or json. Default: from the file name.'],
          ],
        },
        'Patterns work as in .gitignore: a pattern with one part matches at any depth; a pattern with ' +
          'several parts is anchored at the top (the directory of .coffer.yaml, or the outermost names); a ' +
          'match includes everything below it. Parts are ' +
          'separated by "/" in files, by dots in only and except. "*" matches any characters within a ' +
          'part, "?" one character, "**" any number of parts.',
      ],
    },
    {
      heading: 'Supported syntax',
      blocks: [
        {
          terms: [
            [
              '.env',
              '"export" before a name is allowed. Single quotes and backquotes are literal; in double quotes \\n, \\r, \\t, \\", \\\\ and \\$ are expanded. An ' +
                'unquoted value ends at the end of its line, or at a "#" after a space. Variables and commands are not expanded.',
            ],
            ['YAML', 'Version 1.2. Duplicate names in a mapping are an error.'],
            [
              'JSON',
              'RFC 8259, without comments and trailing commas. Duplicate names in an object are an error.',
            ],
          ],
        },
        'All files are UTF-8, with at most 1 MiB and 200 levels of nesting. A file with merge conflict markers is an error.',
      ],
    },
  ],
};
