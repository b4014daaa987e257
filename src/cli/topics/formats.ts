import { CAPABILITY_WORDS } from '../../access/capability.ts';
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
        'Names, comments, order and layout of a file stay as they are. Each value is encrypted separately, including ' +
          'its quotes. KEY is the named key, MOUNT its mount if that is not "transit", vN the version of the key. ' +
          'BASE64 is the same as in a ciphertext of "coffer transit encrypt".',
        'The path of a value is its associated data (and its context, for derived keys): names and list indexes ' +
          'joined by dots, e.g. "db.password", "servers.0.key". In names, dots, "#" and backslashes are escaped with a ' +
          'backslash; paths in the second document of a YAML file start with "2#". A value can therefore only be ' +
          'decrypted under its own name. The file name is not part of the path.',
        'Names, comments and the length of a value are not secret. Files have no checksum, so that git can merge values.',
      ],
    },
    {
      heading: 'Rules',
      blocks: [
        'Coffer looks for .coffer.yaml in the directory of the file and in its parents, up to the root of the ' +
          'repository. The first rule that matches the file applies.',
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
        'Patterns are similar to those of .gitignore, without "!" and "[…]". Parts of a pattern are separated by "/" in "files", by dots in "only" and ' +
          '"except". A pattern with one part matches at any depth. A pattern with several parts starts at the top: in ' +
          '"files", the directory of .coffer.yaml; in "only" and "except", the top-level names of the file. A match ' +
          'includes everything below it. "*" matches any characters within a part, "?" one character, "**" any number ' +
          'of parts.',
      ],
    },
    {
      heading: 'Supported syntax',
      blocks: [
        {
          terms: [
            [
              '.env',
              '"export" before a name is allowed. Text in single quotes or backquotes is literal; in double quotes \\n, ' +
                '\\r, \\t, \\", \\\\ and \\$ are expanded. An unquoted value ends at the end of its line, or at a "#" after a ' +
                'space. Variables and commands are not expanded.',
            ],
            ['YAML', 'Version 1.2. Duplicate names in a mapping are an error.'],
            [
              'JSON',
              'RFC 8259, without comments or trailing commas. Duplicate names in an object are an error.',
            ],
          ],
        },
        'All files are UTF-8, with at most 1 MiB and 200 levels of nesting. A file with merge conflict markers is an error.',
      ],
    },
  ],
};

export const envelopeFormat: Topic = {
  name: 'envelope-format',
  page: 'coffer-envelope',
  summary: 'Format of files and streams encrypted with a named key',
  commands: ['transit envelope'],
  parts: [
    {
      heading: 'Layout',
      blocks: [
        { lines: ['sealed header | header MAC | wrapped key | wrapped key | chunk 0 | ... | last chunk'] },
        'Numbers are unsigned and big-endian. A 256-bit data key, new for every file, is wrapped by the named key. Only the data key is sent to a server, never the data.',
        {
          terms: [
            [
              'sealed header: 48 bytes, then the fields',
              'The magic 89 43 4f 46 46 45 52 0a, the format version 1, the algorithm 1 (AES-256-GCM), the base-2 ' +
                'logarithm of the chunk size (16), a zero; 2 bytes each for the size of a wrapped key and the length of the ' +
                'fields; a salt of 32 bytes. The fields are length-prefixed texts: the mount, the name of the key, and ' +
                'metadata as names with values. The sealed header never changes and is not encrypted.',
            ],
            [
              'header MAC, 32 bytes',
              'HMAC-SHA256 over the sealed header, with a key derived from the data key.',
            ],
            [
              'wrapped keys',
              'Two places of equal size. A rewrap writes the one that is not in use, so that the file stays readable if ' +
                'the rewrap is interrupted. In a new file, the second place is empty. A wrapped key is a transit ciphertext.',
            ],
            [
              'chunks',
              '64 KiB of plaintext each, followed by a 16-byte authentication tag. The nonce counts the chunks and marks the ' +
                'last one, so missing, reordered or truncated chunks are detected.',
            ],
          ],
        },
      ],
    },
    {
      heading: 'Guarantees',
      blocks: [
        'No plaintext is released before its chunk is authenticated. Output to a pipe is only complete if the exit ' +
          'code is 0; otherwise it may be the beginning of the data. With --out, the file is written atomically. An ' +
          'envelope does not identify its author, can be replaced by an older version, and reveals the length of the ' +
          'data.',
      ],
    },
    {
      heading: 'Encrypting files for others',
      blocks: [
        'With --recipient or --passphrase, the file is written in the age format, for people without Coffer. ' +
          'Recipients are age1..., age1pq1..., age1tag1..., age1tagpq1..., SSH public keys, key names, and @FILE with ' +
          'one per line. "coffer transit envelope decrypt" detects which of the two formats a file has.',
      ],
    },
  ],
};

export const storeFormat: Topic = {
  name: 'store-format',
  page: 'coffer-store',
  summary: 'Files of a store and their permissions',
  commands: ['store', 'init', 'status', 'slots', 'rekey', 'doctor'],
  parts: [
    {
      heading: 'Files',
      blocks: [
        {
          terms: [
            [
              'coffer.json',
              'Format version and store ID. A Coffer that is too old for the format reports that and does not touch the store.',
            ],
            [
              'lock',
              'Always empty. A process that writes holds a lock on this file; the lock ends with the process.',
            ],
            [
              'state/',
              'An empty file whose name gives the generation g and the revision n of the store: log-g-n.',
            ],
            [
              'log/',
              'The latest changes, with sealed content. They are written here first, and moved to slots/ and documents/ later.',
            ],
            [
              'generation-g/slots/',
              'One file for each key slot: passphrase, key file, master key, command, recovery shares or recipient.',
            ],
            [
              'generation-g/documents/',
              'Everything else: each file is sealed with AES-256-GCM, with a key derived from the root key. File names are keyed hashes.',
            ],
          ],
        },
        'The directory has mode 0700, files have mode 0600. A directory or file that belongs to another ' +
          'user, or that other users can write to, is refused. Sizes, counts and times are not secret; ' +
          'names of keys, tags and tokens are encrypted.',
      ],
    },
    {
      heading: 'Keys',
      blocks: [
        'A random 256-bit root key seals everything. Each slot holds the root key, wrapped with one secret, so slots ' +
          'can be added and removed without touching the data. A rekey starts the next generation: a new root key, and ' +
          'everything re-encrypted.',
        'If the secrets of all slots are lost, the store cannot be unlocked again.',
      ],
    },
    {
      heading: 'Changes',
      blocks: [
        'A change is on disk when the command exits with 0. A killed process leaves either the old or ' +
          'the new state; the next process cleans up. Any number of processes can use a store at once. In ' +
          'PostgreSQL the same sealed bytes are stored in tables.',
      ],
    },
    {
      heading: 'Files outside the store',
      blocks: [
        'Like the store, these files remain when Coffer is uninstalled.',
        {
          terms: [
            [
              '~/.local/state/coffer',
              'Tokens of "coffer login", keyrings that you trust, and the last state seen of each store. On macOS it is ~/Library/Application Support/coffer-state, on Windows %LOCALAPPDATA%\\coffer-state.',
            ],
            [
              '/run/user/UID/coffer, else ~/.cache/coffer/run',
              'Sockets of agents; "coffer lock" deletes them.',
            ],
            [
              '.coffer.yaml, .coffer/ and git settings',
              'In repositories: rules, a keyring, and what "coffer secrets git-setup" configured.',
            ],
          ],
        },
      ],
    },
    {
      heading: 'Backups',
      blocks: [
        '"coffer store backup" writes a single file that begins with COFFERBK. It contains the header, the slots and ' +
          'the sealed files of the store, unchanged, and a SHA-256 of everything. A backup is unlocked by the ' +
          'secrets that the store had when the backup was made.',
      ],
    },
  ],
};

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
        `Capabilities are ${CAPABILITY_WORDS.join(', ')}. Everything not allowed is denied. A trailing "*" matches ` +
          'any suffix, "+" matches one segment. If several rules match, only the most specific one applies. If several ' +
          'policies have a rule for the same path, their capabilities are combined, and "deny" overrides the others.',
        'Encrypting with a key that does not exist creates the key. This requires the capability create instead of ' +
          'update; a policy can allow both. Paths of tags and workspaces are those of the HTTP API, beginning with ' +
          'api/v2.',
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
              'Shortest and longest TTL that a response can be wrapped for. If one of them is set, requests that do not ' +
                'ask for a wrapped response are denied.',
            ],
          ],
        },
      ],
    },
  ],
};

export const tagsFormat: Topic = {
  name: 'tags-format',
  page: 'coffer-tags',
  summary: 'Format of tag files for "tags import" and "tags apply" (YAML, JSON or CSV)',
  commands: ['tags'],
  parts: [
    {
      heading: 'YAML and JSON',
      blocks: [
        {
          lines: [
            "owns: ['team:*', 'owner']   # the tags that this file manages",
            'workspaces:',
            '  billing-prod: [team:core]',
            '  web-prod: { tags: [team:web], bindings: { owner: shop }, project: Shop }',
            'projects:',
            '  Shop: { owner: shop }',
          ],
        },
        {
          terms: [
            [
              'tags',
              'Tags to create even if no workspace has them; "tags export" writes all tags of the organization here.',
            ],
            [
              'workspaces',
              'Each workspace with its tags; or with its tags, bindings (KEY=VALUE tags) and project.',
            ],
            ['projects', 'Each project with its bindings.'],
            [
              'owns',
              'Patterns of the tags that this file manages. "tags apply" adds and removes only these, so several files can manage one workspace. Default: all tags.',
            ],
          ],
        },
        'A JSON file has the same structure.',
      ],
    },
    {
      heading: 'CSV',
      blocks: [
        {
          lines: [
            'workspace,tag,key,value,project',
            'billing-prod,team:core,,,',
            'web-prod,,owner,shop,Shop',
          ],
        },
        'The first line names the columns; the last three are optional.',
      ],
    },
    {
      heading: 'Commands',
      blocks: [
        '"coffer tags export" writes a file in this format. "coffer tags import" adds what is missing and removes ' +
          'nothing. "coffer tags apply" prints a plan, asks for confirmation (unless --yes is given), and then adds and ' +
          'removes tags until each workspace and project in the file has exactly the tags that the file lists. ' +
          'Workspaces and projects that are not in the file are left alone.',
      ],
    },
  ],
};
