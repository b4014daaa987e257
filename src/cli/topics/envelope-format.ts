import type { Topic } from './topic.ts';

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
              'sealed header, 48 bytes and the fields',
              'The magic 89 43 4f 46 46 45 52 0a, the format version 1, the algorithm 1 (AES-256-GCM), the ' +
                'base-2 logarithm of the chunk size (16), a zero; 2 bytes each for the size of a wrapped key ' +
                'and the length of the fields; a salt of 32 bytes. The fields are length-prefixed texts: the ' +
                'mount, the name of the key, and metadata as names with values. It never changes and is not ' +
                'encrypted.',
            ],
            [
              'header MAC, 32 bytes',
              'HMAC-SHA256 over the sealed header, with a key derived from the data key.',
            ],
            [
              'wrapped keys',
              'Two copies, so that the file stays readable if a rewrap is interrupted. The wrapped key is a transit ciphertext.',
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
        'No plaintext is released before its chunk is authenticated. On a pipe the output may be a ' +
          'prefix; it is complete only if the exit code is 0. With --out, the file is written atomically. ' +
          'An envelope does not identify its author, can be replaced by an older version, and reveals its ' +
          'length.',
      ],
    },
    {
      heading: 'Encrypting files for others',
      blocks: [
        'With --recipient and --passphrase the file is written in the age format, for people without ' +
          'Coffer. Recipients are age1..., age1pq1..., age1tag1..., age1tagpq1..., SSH public keys, key ' +
          'names, and @FILE with one per line. Decrypting detects which of the two formats a file has.',
      ],
    },
  ],
};
