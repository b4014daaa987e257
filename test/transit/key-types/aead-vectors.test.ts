import { describe, expect, it } from 'vitest';
import { keyTypeNamed } from '../../../src/transit/key-types/index.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** Key of McGrew and Viega's test cases 4 and 16; AES-128 takes it once, AES-256 twice. */
const GCM_KEY = 'feffe9928665731c6d6a8f9467308308';
const GCM_MESSAGE =
  'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39';
const GCM_BESIDE = 'feedfacedeadbeeffeedfacedeadbeefabaddad2';

/** "The Galois/Counter Mode of Operation (GCM)", submitted to NIST, appendix B; RFC 8439, 2.8.2. */
const VECTORS = [
  {
    origin: 'GCM test case 4',
    type: 'aes128-gcm96',
    key: GCM_KEY,
    nonce: 'cafebabefacedbaddecaf888',
    message: GCM_MESSAGE,
    beside: GCM_BESIDE,
    ciphertext:
      '42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091',
    tag: '5bc94fbc3221a5db94fae95ae7121a47',
  },
  {
    origin: 'GCM test case 13',
    type: 'aes256-gcm96',
    key: '00'.repeat(32),
    nonce: '00'.repeat(12),
    message: '',
    ciphertext: '',
    tag: '530f8afbc74536b9a963b4f1c4cb738b',
  },
  {
    origin: 'GCM test case 14',
    type: 'aes256-gcm96',
    key: '00'.repeat(32),
    nonce: '00'.repeat(12),
    message: '00'.repeat(16),
    ciphertext: 'cea7403d4d606b6e074ec5d3baf39d18',
    tag: 'd0d1c8a799996bf0265b98b5d48ab919',
  },
  {
    origin: 'GCM test case 16',
    type: 'aes256-gcm96',
    key: GCM_KEY + GCM_KEY,
    nonce: 'cafebabefacedbaddecaf888',
    message: GCM_MESSAGE,
    beside: GCM_BESIDE,
    ciphertext:
      '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662',
    tag: '76fc6ece0f4e1768cddf8853bb2d551b',
  },
  {
    origin: 'RFC 8439, 2.8.2',
    type: 'chacha20-poly1305',
    key: '808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f',
    nonce: '070000004041424344454647',
    message: Buffer.from(
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
    ).toString('hex'),
    beside: '50515253c0c1c2c3c4c5c6c7',
    ciphertext:
      'd31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b6116',
    tag: '1ae10b594f09e26a7e902ecbd0600691',
  },
];

describe('authenticated encryption', () => {
  it.each(VECTORS)('of $type gives the vector of $origin, both ways', async (vector) => {
    const type = keyTypeNamed(vector.type) ?? expect.fail('no such type');
    const material = type.open({ secret: hex(vector.key).toString('base64') });
    const cipher = (await type.aead?.cipher(material)) ?? expect.fail('no cipher');
    const beside = 'beside' in vector ? hex(vector.beside ?? '') : undefined;
    const sealed = Buffer.concat(cipher.encrypt(hex(vector.nonce), hex(vector.message), beside));
    expect(sealed.toString('hex')).toBe(vector.ciphertext + vector.tag);
    expect(cipher.decrypt(hex(vector.nonce), sealed, beside).toString('hex')).toBe(vector.message);
  });
});
