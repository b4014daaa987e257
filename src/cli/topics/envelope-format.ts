import type { Topic } from './topic.ts';

export const envelopeFormat: Topic = {
  name: 'envelope-format',
  page: 'coffer-envelope',
  summary: 'Files and streams of any size, encrypted under a named key',
  commands: ['transit envelope'],
  parts: [
    {
      heading: 'Layout',
      blocks: [
        { lines: ['sealed header | header MAC | wrapped key | wrapped key | chunk 0 | ... | last chunk'] },
        'Numbers are unsigned and big-endian. A data key of 256 bits, new for every file, is wrapped by the named key: only it travels to a server, never the data.',
        {
          terms: [
            [
              'sealed header, 48 bytes and the fields',
              'The magic 89 43 4f 46 46 45 52 0a, the format version 1, the algorithm 1 (AES-256-GCM), the base-2 logarithm of the size of a chunk (16), a zero; ' +
                '2 bytes each for the size of a wrapped key and the length of the fields; a salt of 32 bytes. The fields are texts with their lengths before them: the mount, the name ' +
                'of the key, and metadata as keys with values. It never changes, and everybody can read it.',
            ],
            ['header MAC, 32 bytes', 'HMAC-SHA256 over the sealed header, under a key from the data key.'],
            [
              'wrapped keys',
              'Two halves, of which one is spare, so that a rewrap that was interrupted leaves a file that opens. What is wrapped is a ciphertext of transit.',
            ],
            [
              'chunks',
              '64 KiB of plaintext each, followed by a tag of 16 bytes. The nonce counts the chunks and marks the last one, so that chunks that were left out, exchanged ' +
                'or cut off are noticed.',
            ],
          ],
        },
      ],
    },
    {
      heading: 'What holds',
      blocks: [
        'Nothing is handed out before its chunk is authenticated. On a pipe, what came out is a true beginning, and only exit code 0 says that it is all; with --out a file ' +
          'appears whole or not at all. An envelope says neither who wrote it nor that it is the newest one, and its length can be seen.',
      ],
    },
    {
      heading: 'Files for others',
      blocks: [
        'With --recipient and --passphrase the file is one of the age format, for people without Coffer: recipients are age1..., age1pq1..., age1tag1..., age1tagpq1..., lines of SSH .pub files, @FILE with ' +
          'such lines, and names of keys. Decrypting finds out by itself which of the two formats a file has.',
      ],
    },
  ],
};
