import type { Topic } from './topic.ts';

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
            ['lock', 'Always empty: writers hold a lock on it, which ends with the process.'],
            [
              'state/',
              'An empty file whose name gives the generation g and the revision n of the store: clean-g-n. During a write it is named dirty-g-n.',
            ],
            [
              'generation-g/slots/',
              'One file for each key slot: passphrase, key file, master key, command, recovery shares or recipient.',
            ],
            [
              'generation-g/documents/',
              'Everything else: each file is sealed with AES-256-GCM, with a key derived from the root key. Names are keyed hashes.',
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
        'A random 256-bit root key seals everything. Each slot holds it, wrapped with one secret, so ' +
          'slots can be added and removed without touching the data. A rekey starts the next generation: ' +
          'a new root key, and everything re-encrypted.',
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
        'These remain when Coffer is uninstalled, besides the store. On macOS and Windows they are in the directories for such files there.',
        {
          terms: [
            [
              '~/.local/state/coffer',
              'Tokens of "coffer login", keyrings that you trust, and the last state seen of each store.',
            ],
            [
              '/run/user/UID/coffer, else ~/.cache/coffer/run',
              'Sockets of agents; empty after "coffer lock".',
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
        '"coffer store backup" writes a single file that begins with COFFERBK: the header, the slots and the sealed files unchanged, and a SHA-256 of everything. It is unlocked by the same secrets.',
      ],
    },
  ],
};
