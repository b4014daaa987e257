import type { Topic } from './topic.ts';

export const storeFormat: Topic = {
  name: 'store-format',
  page: 'coffer-store',
  summary: 'The files of a sealed store, and who may read and write them',
  commands: ['store', 'init', 'status', 'slots', 'rekey', 'doctor'],
  parts: [
    {
      heading: 'Files',
      blocks: [
        {
          terms: [
            [
              'coffer.json',
              'Which format, and which store. A Coffer that is too old for a format says so and leaves the store alone.',
            ],
            ['lock', 'Always empty: who writes holds a lock on it, which ends with the process.'],
            [
              'state/',
              'An empty file whose name says that the store is in generation g and revision n: clean-g-n. While something is written it is dirty-g-n.',
            ],
            [
              'generation-g/slots/',
              'A file for each way to unlock the store: passphrase, key file, raw key, command, shares.',
            ],
            [
              'generation-g/documents/',
              'Everything else, each file sealed with AES-256-GCM under a key from the root key. Names are keyed hashes.',
            ],
          ],
        },
        'The directory has the mode 0700, files have 0600. A directory or file that belongs to another user, or that others may write to, is refused. Sizes, counts and times can ' +
          'be seen; no name of a key, tag or token can.',
      ],
    },
    {
      heading: 'Keys',
      blocks: [
        'A random root key of 256 bits seals everything. Each slot holds it, wrapped for one secret, so that slots are added and removed without touching the data. A rekey ' +
          'makes the next generation: a new root key, and everything sealed again.',
        'Who loses the secrets of all slots has lost the store: nobody can open it.',
      ],
    },
    {
      heading: 'Changes',
      blocks: [
        'A change is on the disk when the command ends with exit code 0. A process that is killed leaves the old state or the new one; the next one cleans up. Any number of ' +
          'processes may use a store at once. In PostgreSQL the same sealed bytes lie in tables.',
      ],
    },
    {
      heading: 'Backups',
      blocks: [
        'What "coffer store backup" writes is one file, which begins with COFFERBK: the header, the slots and the sealed files as they are, and a SHA-256 of all. It opens with the same secrets.',
      ],
    },
  ],
};
